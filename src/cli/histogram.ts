/** `weir histogram`: how many logs there were, over time. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { toInteger } from './arguments.ts';
import { type BarSet, barSetOf } from './reading/bars.ts';
import { type Histogram, histogramText } from './reading/histogram-text.ts';
import {
  addFilters,
  addRange,
  type FilterOptions,
  toFilterQuery,
  utcOption,
  zoneOf,
} from './reading/log-filter.ts';
import type { OpenSession } from './session.ts';

interface HistogramOptions extends FilterOptions {
  readonly buckets: number;
  readonly by?: 'severity';
  readonly ascii?: true;
}

const mostBuckets = 500;

const examples = `
Examples:
  weir histogram --since 6h
  weir histogram --by severity --since 1d --buckets 48 --service checkout
  weir histogram --since 1h timeout --json | jq '.buckets[].count'`;

export function addHistogramCommand(program: Command, open: OpenSession): void {
  addRange(addFilters(program.command('histogram')))
    .description('show how many logs there were over time; of one hour by default')
    .option('--buckets <n>', `equal parts of the time, at most ${mostBuckets}`, toBuckets, 20)
    .addOption(new Option('--by <field>', 'colour and count by').choices(['severity']))
    .option('--ascii', 'bars of # alone')
    .addOption(utcOption())
    .addHelpText('after', examples)
    .action(async (search: string[], options: HistogramOptions, self: Command) => {
      const { reads, api, output, format, terminal } = open(self);
      const query = await toFilterQuery(search, { until: 'now', ...options }, api);
      if (!query.has('sinceTime')) query.set('sinceTime', hourBefore(query.get('untilTime')!));
      query.set('buckets', String(options.buckets));
      if (options.by !== undefined) query.set('groupBy', options.by);
      const histogram = await reads.get<Histogram>(['histogram'], query);
      if (format === 'json') {
        output.record(histogram);
        return;
      }
      const bars: BarSet = options.ascii ? 'ascii' : barSetOf(terminal.environment);
      const { columns, styleOut: style } = terminal;
      await output.write(histogramText(histogram, { columns, style, bars, zone: zoneOf(options) }));
    });
}

/** @param instant as `toInstant` makes it. */
function hourBefore(instant: string): string {
  const millis = /^\d+$/.test(instant) ? Number(instant) : Date.parse(instant);
  return new Date(Math.max(0, millis - 3_600_000)).toISOString();
}

function toBuckets(text: string): number {
  const buckets = toInteger(text);
  if (buckets >= 1 && buckets <= mostBuckets) return buckets;
  throw new InvalidArgumentError(`Give a number from 1 to ${mostBuckets}.`);
}
