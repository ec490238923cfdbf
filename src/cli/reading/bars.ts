/** Bars of text: eighths of a block where the locale is UTF-8, else `#`; and the text beside. */
import { type Environment, escapeControls, type Style, type Terminal } from '../terminal.ts';

export type BarSet = 'blocks' | 'ascii';

export interface ChartOptions {
  /** Characters in a line. */
  readonly columns: number;
  readonly style: Style;
  readonly bars: BarSet;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export function toChartOptions(
  { columns, styleOut: style, environment }: Terminal,
  { ascii }: { readonly ascii?: true },
): ChartOptions {
  return { columns, style, bars: ascii ? 'ascii' : barSetOf(environment) };
}

/**
 * Any share above 0 is visible.
 * @param share 0 to 1.
 * @param width characters of the whole.
 */
export function toBar(share: number, width: number, set: BarSet): string {
  const exact = Math.min(1, Math.max(0, share)) * width;
  if (exact === 0) return '';
  if (set === 'ascii') return '#'.repeat(Math.max(1, Math.round(exact)));
  const parts = Math.max(1, Math.round(exact * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

const heights = { blocks: ' ▁▂▃▄▅▆▇█', ascii: ' .:-=+*#@' } as const;

/** One character for each count; any count above 0 is visible. */
export function toSparkline(counts: readonly number[], set: BarSet): string {
  const most = Math.max(1, ...counts);
  return counts.map((count) => heights[set][Math.ceil((count / most) * 8)]).join('');
}

/** `toBar` of the sum, cut into one piece for each part. */
export function toStackedBar(
  parts: readonly number[],
  whole: { readonly most: number; readonly width: number; readonly set: BarSet },
): string[] {
  const sum = parts.reduce((total, part) => total + part, 0);
  const bar = Array.from(toBar(sum / whole.most, whole.width, whole.set));
  let before = 0;
  return parts.map((part) => {
    const from = Math.round((before / sum) * bar.length);
    before += part;
    return bar.slice(from, Math.round((before / sum) * bar.length)).join('');
  });
}

/** `12.5 %`, right-aligned. */
export function toPercent(share: number, width = 7): string {
  return `${(share * 100).toFixed(1)} %`.padStart(width);
}

export function oneLine(text: string): string {
  return escapeControls(text.replaceAll(/\s+/g, ' '));
}

export function shorten(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Source of the order: POSIX, "Environment Variables". */
export function barSetOf(environment: Environment): BarSet {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return /utf-?8/i.test(locale) ? 'blocks' : 'ascii';
}
