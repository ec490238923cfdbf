/** `weir stats [stat…]`: statistics of fields and labels by time and groups, as a table. */
import { Argument, type Command } from 'commander';
import { joinNames, splitNames } from '../../model/log-fields.ts';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Terminal } from '../terminal.ts';
import { showInstant, type Zone } from './instant.ts';
import {
  addFilterOptions,
  addRange,
  type FilterOptions,
  groupFieldHelp,
  toBoundedQuery,
  toGroupFieldName,
  utcOption,
  zoneOf,
} from './query.ts';

interface StatsOptions extends FilterOptions {
  readonly by?: string;
  readonly step?: string;
  readonly exact?: true;
  readonly limit: number;
  readonly search?: string;
}

interface Stats {
  readonly exact: boolean;
  readonly sampled?: number;
  readonly rows: readonly StatsRow[];
}

interface StatsRow {
  readonly time: string;
  readonly by: Readonly<Record<string, string>>;
  readonly other?: true;
  readonly values: Readonly<Record<string, number | null>>;
}

const maxLimit = 1_000;

const examples = `
Statistics: count, rate (logs per second), and count, sum, avg, min, max, uniq, p50, p95, p99.9
and other percentiles of a field, such as 'p95(label.duration_ms)'. The range is the last hour by
default.

Fields: ${groupFieldHelp}.

Examples:
  weir stats count 'p95(label.duration_ms)' --by service
  weir stats rate --by host --step 5m --since 3h --limit 3
  weir stats 'uniq(customer.id)' -q 'severity>=error' --since 1d
  weir stats 'max(label.bytes)' --by service --json | jq -r '.rows[] | .by.service'`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilterOptions(command))
    .addArgument(new Argument('[stat...]', 'statistics; the first one ranks groups'))
    .option('--by <a,b,…>', 'group by up to three fields', toGroupFieldNames)
    .option('--step <duration>', 'one value for each step of time, such as 30s, 5m or 1h')
    .option(
      '--limit <n>',
      `groups, at most ${maxLimit}; all others are one more`,
      integerWithin(1, maxLimit),
      10,
    )
    .option('--exact', 'percentiles of all logs, however many')
    .option('--search <words>', 'words that the message must contain')
    .addOption(utcOption())
    .addHelpText('after', examples)
    .action(async (given: string[], options: StatsOptions) => {
      const { api, output } = openSession(command, terminal);
      const query = await toBoundedQuery([options.search ?? ''], options, api);
      for (const stat of given) query.append('stat', stat);
      if (options.by !== undefined) query.set('by', options.by);
      if (options.step !== undefined) query.set('step', options.step);
      query.set('limit', String(options.limit));
      if (options.exact === true) query.set('exact', 'true');
      const stats = await api.get<Stats>(['stats'], query);
      const isWhole = options.step === undefined;
      await output.show(stats, () => statsText(stats, isWhole, zoneOf(options)));
      if (!stats.exact) {
        const why =
          stats.sampled === undefined
            ? ': all values need more memory'
            : ` of ${stats.sampled} logs; --exact reads all`;
        terminal.writeError(`weir: percentiles are of a sample${why}\n`);
      }
    });
}

function toGroupFieldNames(text: string): string {
  return joinNames(splitNames(text).map(toGroupFieldName));
}

/** A longer value moves the rest of its line, not that of all lines. */
const maxPaddedWidth = 40;

/** Groups to the left, numbers to the right. @param isWhole of one value over the range */
export function statsText({ rows }: Stats, isWhole: boolean, zone: Zone): string {
  const [first] = rows;
  if (first === undefined) return 'no logs match\n';
  const byNames = Object.keys((rows.find(({ other }) => !other) ?? first).by);
  const names = Object.keys(first.values);
  const texts = [...(isWhole ? [] : ['time']), ...byNames];
  const table = [
    [...texts, ...names],
    ...rows.map(({ time, by, other, values }) => [
      ...(isWhole ? [] : [showInstant(time, zone)]),
      ...byNames.map((name) => (other ? '(other)' : by[name] || '(none)')),
      ...names.map((name) => numberText(values[name] ?? null)),
    ]),
  ].map((cells) => cells.map(escapeControls));
  const widths = table[0]!.map((_, i) => {
    const width = Math.max(...table.map((cells) => cells[i]!.length));
    return i < texts.length ? Math.min(width, maxPaddedWidth) : width;
  });
  const lines = table.map((cells) =>
    cells.map((cell, i) =>
      i < texts.length ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!),
    ),
  );
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}

/** Six digits are enough to compare; JSON has all. */
function numberText(value: number | null): string {
  if (value === null) return '-';
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}
