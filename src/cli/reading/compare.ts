/** `weir compare [search…]`: values that tell logs from those of another range or query. */
import type { Command } from 'commander';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { type ChartOptions, oneLine, toBar, toChartOptions, toPercent } from './bars.ts';
import { addFilters, addRange, type FilterOptions, readInstant, toFilterQuery } from './query.ts';

interface CompareOptions extends FilterOptions {
  readonly baselineFrom?: string;
  readonly baselineTo?: string;
  readonly baselineQuery?: string;
  readonly limit: number;
  readonly queries?: true;
  readonly ascii?: true;
}

const maxValues = 100;
const barWidth = 10;

const examples = `
Examples:
  weir compare --since 20m --service checkout
  weir compare --since 2h --baseline-from 26h --baseline-to 24h
  weir compare --since 1d -q severity:error --baseline-query=-severity:error
  weir compare --json | jq -r '.differences[] | [.field, .value] | @tsv'`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilters(command))
    .option('--baseline-from <time>', 'start of the baseline; default: the same length before')
    .option('--baseline-to <time>', 'end of the baseline, exclusive; default: --since')
    .option('--baseline-query <query>', 'query of the baseline, by default over the same range')
    .option('-n, --limit <n>', `values, at most ${maxValues}`, integerWithin(1, maxValues), 20)
    .option('--queries', 'show the query that finds the logs of each value')
    .option('--ascii', 'draw bars with # only')
    .option('--utc', 'parse times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (search: string[], options: CompareOptions) => {
      const { api, output } = openSession(command, terminal);
      const query = await toFilterQuery(search, options, api);
      const now = Date.now();
      for (const name of ['baselineFrom', 'baselineTo'] as const) {
        const { [name]: text } = options;
        const flag = name === 'baselineFrom' ? 'baseline-from' : 'baseline-to';
        if (text !== undefined) query.set(name, readInstant(flag, text, { now, options }));
      }
      if (options.baselineQuery !== undefined) query.set('baselineQuery', options.baselineQuery);
      query.set('limit', String(options.limit));
      const comparison = await api.get<Comparison>(['compare'], query);
      const chart = toChartOptions(terminal, options);
      await output.show(comparison, () => comparisonText(comparison, chart, options));
    });
}

interface Side {
  readonly sampled: number;
  readonly total: number;
}

interface Comparison {
  readonly differences: readonly {
    readonly field: string;
    readonly value: string;
    readonly query: string;
    readonly share: number;
    readonly baselineShare: number;
    readonly effect: number;
  }[];
  readonly selection: Side;
  readonly baseline: Side;
  readonly tested: number;
}

function comparisonText(
  { differences, selection, baseline, tested }: Comparison,
  { style, bars }: ChartOptions,
  { queries }: { readonly queries?: true },
): string {
  const most = Math.max(...differences.map(({ effect }) => effect));
  const lines = differences.flatMap(({ field, value, query, share, baselineShare, effect }) => {
    const bar = toBar(effect / most, barWidth, bars).padEnd(barWidth);
    const name = `${oneLine(field)}: ${oneLine(value)}`;
    return [
      `${toPercent(share, 8)} ${toPercent(baselineShare, 8)}  ${style('cyan', bar)} ${name}`,
      ...(queries ? [`  ${oneLine(query)}`] : []),
    ];
  });
  const head = differences.length === 0 ? [] : [style('dim', '   SHARE  BASELINE  EFFECT')];
  const rest =
    `${sizeText(selection)} compared with ${sizeText(baseline)}, ` +
    `${tested} values, ${differences.length === 0 ? 'no difference' : 'most different first'}`;
  return [...head, ...lines, style('dim', rest)].map((line) => `${line}\n`).join('');
}

function sizeText({ sampled, total }: Side): string {
  return sampled === total ? `${total} logs` : `a sample of ${sampled} of ${total} logs`;
}
