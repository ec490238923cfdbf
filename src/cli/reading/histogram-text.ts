/** Counts over time as lines with bars. Pure. */
import { toSeverityNumber } from '../../model/severity.ts';
import { escapeControls, type Style } from '../terminal.ts';
import { type BarSet, toBar, toStackedBar } from './bars.ts';
import { showInstant, type Zone } from './instant.ts';
import { severityStyle } from './log-text.ts';

export interface Histogram {
  readonly startTime: string;
  readonly endTime: string;
  readonly buckets: readonly Bucket[];
  readonly total: number;
}

interface Bucket {
  readonly startTime: string;
  readonly count: number;
  /** By severity, where that was asked for. */
  readonly groups?: Readonly<Record<string, number>>;
}

export interface ChartOptions {
  /** Characters in a line. */
  readonly columns: number;
  readonly style: Style;
  readonly bars: BarSet;
  readonly zone: Zone;
}

/** A column of counts, and a piece of every bar. */
interface Series {
  readonly name: string;
  readonly format: Parameters<Style>[0];
  readonly countOf: (bucket: Bucket) => number;
}

const narrowestBar = 10;
/** Senders may use any words; a line has room for a few. */
const mostSeries = 6;

export function histogramText(histogram: Histogram, options: ChartOptions): string {
  const { buckets, total, endTime } = histogram;
  const { style, zone } = options;
  const show = isFine(buckets) ? showInstant : showSecond;
  const times = buckets.map(({ startTime }) => show(startTime, zone));
  const timeWidth = Math.max(0, ...times.map((time) => time.length));
  const series = toSeries(buckets);
  const widths = series.map(({ name, countOf }) =>
    Math.max(name.length, ...buckets.map((bucket) => String(countOf(bucket)).length)),
  );
  const taken = widths.reduce((sum, width) => sum + width + 1, timeWidth + 1);
  const whole = {
    most: Math.max(1, ...buckets.map(({ count }) => count)),
    width: Math.max(narrowestBar, options.columns - taken - 1),
    set: options.bars,
  };
  const lines = buckets.map((bucket, row) => {
    const counts = series.map(({ countOf }) => countOf(bucket));
    const cells = counts.map((count, i) => ` ${String(count).padStart(widths[i]!)}`).join('');
    const pieces = toBars(counts, whole).map((piece, i) => style(series[i]!.format, piece));
    return `${style('dim', times[row]!.padEnd(timeWidth))}${cells} ${pieces.join('')}`.trimEnd();
  });
  const names = series.map(({ name, format }, i) => ` ${style(format, name.padStart(widths[i]!))}`);
  const isNamed = series.some(({ name }) => name !== '');
  const head = isNamed ? [`${' '.repeat(timeWidth)}${names.join('')}`] : [];
  const end = style('dim', `${total} logs until ${show(endTime, zone)}`);
  return [...head, ...lines, end].map((line) => `${line}\n`).join('');
}

/** Whether buckets are so short that it takes milliseconds to tell them apart. */
function isFine([first, second]: readonly Bucket[]): boolean {
  if (first === undefined || second === undefined) return false;
  return Date.parse(second.startTime) - Date.parse(first.startTime) < 1_000;
}

function showSecond(iso: string, zone: Zone): string {
  return showInstant(iso, zone).replace(/\.\d{3}/, '');
}

function toBars(
  counts: readonly number[],
  whole: { readonly most: number; readonly width: number; readonly set: BarSet },
): string[] {
  const [count = 0, ...others] = counts;
  if (others.length > 0) return toStackedBar(counts, whole);
  return [toBar(count / whole.most, whole.width, whole.set)];
}

/** The worst first, so that it stands at the axis, where lengths can be compared. */
function toSeries(buckets: readonly Bucket[]): Series[] {
  const totals = new Map<string, number>();
  for (const { groups } of buckets) {
    for (const [word, count] of Object.entries(groups ?? {})) {
      totals.set(word, (totals.get(word) ?? 0) + count);
    }
  }
  if (totals.size === 0) return [{ name: '', format: 'cyan', countOf: ({ count }) => count }];
  const frequent = [...totals].sort(([, a], [, b]) => b - a).slice(0, mostSeries);
  const words = frequent.map(([word]) => word).sort((a, b) => rank(b) - rank(a));
  const series = words.map((word) => ({
    name: word === '' ? 'none' : escapeControls(word),
    format: severityStyle(rank(word)),
    countOf: ({ groups }: Bucket) => countIn(groups, word),
  }));
  if (words.length === totals.size) return series;
  const countOf = (bucket: Bucket) =>
    bucket.count - words.reduce((sum, word) => sum + countIn(bucket.groups, word), 0);
  return [...series, { name: 'other', format: 'dim', countOf }];
}

function countIn(groups: Bucket['groups'], word: string): number {
  return groups !== undefined && Object.hasOwn(groups, word) ? (groups[word] ?? 0) : 0;
}

function rank(word: string): number {
  return toSeverityNumber(word);
}
