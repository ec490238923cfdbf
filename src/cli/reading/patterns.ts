/** `weir patterns [search…]`: logs grouped by the template of their message. */
import type { Command } from 'commander';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Terminal } from '../terminal.ts';
import {
  type ChartOptions,
  oneLine,
  shorten,
  toChartOptions,
  toPercent,
  toSparkline,
} from './bars.ts';
import { addFilters, addRange, type FilterOptions, toFilterQuery } from './query.ts';

interface PatternsOptions extends FilterOptions {
  readonly limit: number;
  readonly values?: true;
  readonly queries?: true;
  readonly ascii?: true;
}

const maxPatterns = 200;

const examples = `
Examples:
  weir patterns --since 6h --severity error
  weir patterns --values --service checkout
  weir patterns --json | jq -r '.patterns[] | [.count, .template] | @tsv'
  weir logs -q "$(weir patterns --json | jq -r '.patterns[0].query')"`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilters(command))
    .option(
      '-n, --limit <n>',
      `patterns, at most ${maxPatterns}`,
      integerWithin(1, maxPatterns),
      20,
    )
    .option('--values', 'show the most frequent values of each variable')
    .option('--queries', 'show the query that finds the logs of each pattern')
    .option('--ascii', 'draw counts over time with ASCII only')
    .option('--utc', 'parse times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (search: string[], options: PatternsOptions) => {
      const { api, output } = openSession(command, terminal);
      const query = await toFilterQuery(search, options, api);
      query.set('limit', String(options.limit));
      const patterns = await api.get<Patterns>(['patterns'], query);
      const chart = toChartOptions(terminal, options);
      const columns = terminal.isOutTty ? chart.columns : Infinity;
      await output.show(patterns, () => patternsText(patterns, { ...chart, columns }, options));
    });
}

export interface Patterns {
  readonly patterns: readonly Pattern[];
  readonly other: number;
  readonly sampled: number;
  readonly total: number;
  readonly exact: boolean;
}

interface Pattern {
  readonly template: string;
  readonly query: string;
  readonly count: number;
  readonly share: number;
  readonly severities: Readonly<Record<string, number>>;
  readonly counts: readonly number[];
  readonly variables: readonly {
    readonly name: string;
    readonly values: readonly { readonly value: string; readonly share: number }[];
    readonly distinct: number;
  }[];
}

export function patternsText(
  { patterns, other, sampled, total, exact }: Patterns,
  { style, bars, columns }: ChartOptions,
  shown: { readonly values?: true; readonly queries?: true },
): string {
  const countWidth = Math.max(5, String(sampled).length);
  const severities = patterns.map(severityOf);
  const severityWidth = Math.max(0, ...severities.map(({ length }) => length));
  const lines = patterns.flatMap((pattern, i) => {
    const count = String(pattern.count).padStart(countWidth);
    const line = toSparkline(pattern.counts, bars);
    const severity = severities[i]!.padEnd(severityWidth);
    const head = `${count} ${toPercent(pattern.share)} ${severity}`;
    const room = Math.max(20, columns - head.length - line.length - 2);
    const template = shorten(oneLine(pattern.template), room);
    return [
      `${head} ${style('cyan', line)} ${template}`,
      ...(shown.values ? pattern.variables.map((variable) => `  ${valuesText(variable)}`) : []),
      ...(shown.queries ? [`  ${oneLine(pattern.query)}`] : []),
    ];
  });
  const rest = other === 0 ? [] : [`${String(other).padStart(countWidth)} in other patterns`];
  const sample = exact ? `${total} logs` : `a sample of ${sampled} of ${total} logs`;
  return [...lines, ...rest, style('dim', sample)].map((line) => `${line}\n`).join('');
}

/** The most frequent one. */
function severityOf({ severities }: Pattern): string {
  const [[severity] = ['']] = Object.entries(severities).sort(([, a], [, b]) => b - a);
  return escapeControls(severity);
}

function valuesText({ name, values, distinct }: Pattern['variables'][0]): string {
  const listed = values.map(({ value, share }) => `${oneLine(value)} ${toPercent(share, 0)}`);
  const more = distinct > values.length ? [`${distinct - values.length} more`] : [];
  return `${name}: ${[...listed, ...more].join(', ')}`;
}
