/** `weir histogram [search…]`: counts over time as bars. */
import type { Command } from 'commander';
import { toSeverityNumber } from '../../model/severity.ts';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Style, type Terminal } from '../terminal.ts';
import { type ChartOptions, shorten, toChartOptions, toStackedBar } from './bars.ts';
import { showInstant, toRoundRange, type Zone } from './instant.ts';
import { severityStyle } from './log-text.ts';
import {
  addFilters,
  addRange,
  type FilterOptions,
  groupFieldHelp,
  toBoundedQuery,
  toGroupFieldName,
  utcOption,
  zoneOf,
} from './query.ts';

interface HistogramOptions extends FilterOptions {
  readonly buckets?: number;
  readonly by?: string;
  readonly top?: number;
  readonly ascii?: true;
}

const maxBuckets = 500;
const usualBuckets = 20;
const maxTop = 100;
const usualTop = 6;

const examples = `
Examples:
  weir histogram --since 6h
  weir histogram --by severity --since 1d --buckets 48 --service checkout
  weir histogram --by customer.id --top 3 --since 1h
  weir histogram --since 1h timeout --json | jq '.buckets[].count'`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilters(command))
    .option(
      '--buckets <n>',
      `number of equal parts of the range, at most ${maxBuckets}; default: about ` +
        `${usualBuckets}, for which the range is widened to round times`,
      integerWithin(1, maxBuckets),
    )
    .option('--by <field>', `field to count and colour by: ${groupFieldHelp}`, toGroupFieldName)
    .option('--top <n>', 'values shown with --by, default 6', integerWithin(1, maxTop))
    .option('--ascii', 'draw bars with # only')
    .addOption(utcOption())
    .addHelpText('after', examples)
    .action(async (search: string[], options: HistogramOptions) => {
      const { api, output } = openSession(command, terminal);
      const query = await toBoundedQuery(search, options, api);
      if (options.buckets === undefined) widen(query, zoneOf(options));
      else query.set('buckets', String(options.buckets));
      if (options.by !== undefined) {
        query.set('groupBy', options.by);
        query.set('topK', String(options.top ?? usualTop));
      }
      const histogram = await api.get<Histogram>(['histogram'], query);
      const chart = { ...toChartOptions(terminal, options), zone: zoneOf(options) };
      await output.show(histogram, () => histogramText(histogram, chart));
    });
}

/** An empty range is left for the service to refuse. */
function widen(query: URLSearchParams, zone: Zone): void {
  const sinceMs = Date.parse(query.get('sinceTime')!);
  const untilMs = Date.parse(query.get('untilTime')!);
  if (sinceMs >= untilMs) return;
  const round = toRoundRange({ sinceMs, untilMs }, { most: usualBuckets, zone });
  query.set('sinceTime', new Date(round.sinceMs).toISOString());
  query.set('untilTime', new Date(round.untilMs).toISOString());
  query.set('buckets', String(round.parts));
}

export interface Histogram {
  readonly startTime: string;
  readonly endTime: string;
  readonly buckets: readonly Bucket[];
  readonly total: number;
}

interface Bucket {
  readonly startTime: string;
  readonly count: number;
  /** By value, with `--by`. */
  readonly groups?: Readonly<Record<string, number>>;
  /** Logs of no listed value. */
  readonly other?: number;
}

/** A column of counts, and a piece of every bar. */
interface Series {
  readonly name: string;
  readonly format: Parameters<Style>[0];
  readonly countOf: (bucket: Bucket) => number;
}

const narrowestBar = 10;
const widestName = 20;
const colours = ['cyan', 'yellow', 'magenta', 'green', 'blue', 'red'] as const;

export function histogramText(
  histogram: Histogram,
  options: ChartOptions & { readonly zone: Zone },
): string {
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
    const pieces = toStackedBar(counts, whole).map((piece, i) => style(series[i]!.format, piece));
    return `${style('dim', times[row]!.padEnd(timeWidth))}${cells} ${pieces.join('')}`.trimEnd();
  });
  const names = series.map(({ name, format }, i) => ` ${style(format, name.padStart(widths[i]!))}`);
  const isNamed = series.some(({ name }) => name !== '');
  const head = isNamed ? [`${' '.repeat(timeWidth)}${names.join('')}`] : [];
  const end = style('dim', `${total} logs until ${show(endTime, zone)}`);
  return [...head, ...lines, end].map((line) => `${line}\n`).join('');
}

/** Whether buckets are shorter than a second. */
function isFine([first, second]: readonly Bucket[]): boolean {
  if (first === undefined || second === undefined) return false;
  return Date.parse(second.startTime) - Date.parse(first.startTime) < 1_000;
}

function showSecond(iso: string, zone: Zone): string {
  return showInstant(iso, zone).replace(/\.\d{3}/, '');
}

/** The most severe or most frequent first: lengths that start at the axis can be compared. */
function toSeries(buckets: readonly Bucket[]): Series[] {
  const totals = new Map<string, number>();
  for (const { groups } of buckets) {
    for (const [word, count] of Object.entries(groups ?? {})) {
      totals.set(word, (totals.get(word) ?? 0) + count);
    }
  }
  if (totals.size === 0) return [{ name: '', format: 'cyan', countOf: ({ count }) => count }];
  const words = [...totals]
    .sort(([, a], [, b]) => b - a)
    .map(([word]) => word)
    .sort((a, b) => toSeverityNumber(b) - toSeverityNumber(a));
  const areSeverities = words.some((word) => toSeverityNumber(word) > 0);
  const series = words.map((word, i) => ({
    name: word === '' ? 'none' : shorten(escapeControls(word), widestName),
    format: areSeverities ? severityStyle(toSeverityNumber(word)) : colours[i % colours.length]!,
    countOf: ({ groups = {} }: Bucket) => (Object.hasOwn(groups, word) ? groups[word]! : 0),
  }));
  if (buckets.every(({ other = 0 }) => other === 0)) return series;
  return [...series, { name: 'other', format: 'dim', countOf: ({ other = 0 }) => other }];
}
