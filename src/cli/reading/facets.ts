/** `weir facets [field…]`: the most frequent values of fields, with their shares. */
import { Argument, type Command } from 'commander';
import { collect, integerWithin } from '../arguments.ts';
import { joinNames } from '../../model/log-fields.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Terminal } from '../terminal.ts';
import { type ChartOptions, shorten, toBar, toChartOptions, toPercent } from './bars.ts';
import {
  addFilterOptions,
  addRange,
  type FilterOptions,
  groupFieldHelp,
  toFilterQuery,
  toGroupFieldName,
} from './query.ts';

interface FacetsOptions extends FilterOptions {
  readonly top: number;
  readonly search?: string;
  readonly ascii?: true;
}

const defaultFields = ['severity', 'service', 'host'];
const maxValues = 100;

const examples = `
Examples:
  weir facets
  weir facets host k8s-pod customer.id --since 1h --severity error --top 5
  weir facets service --search timeout --json | jq -r '.facets[0].values[].value'`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilterOptions(command))
    .addArgument(
      new Argument('[field...]', groupFieldHelp).argParser(
        (text: string, earlier: string[] | undefined) => collect(toGroupFieldName(text), earlier),
      ),
    )
    .option('--search <words>', 'words that the message must contain')
    .option('--top <n>', `values per field, at most ${maxValues}`, integerWithin(1, maxValues), 10)
    .option('--ascii', 'draw bars with # only')
    .option('--utc', 'parse times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (given: string[], options: FacetsOptions) => {
      const { api, output } = openSession(command, terminal);
      const fields = given.length > 0 ? given : defaultFields;
      const query = await toFilterQuery([options.search ?? ''], options, api);
      query.set('fields', joinNames(fields));
      query.set('topK', String(options.top));
      const response = await api.get<{ facets: Facet[] }>(['facets', 'batch'], query);
      const chart = toChartOptions(terminal, options);
      await output.show(response, () => facetsText(response.facets, chart));
    });
}

export interface Facet {
  readonly field: string;
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Logs with none of the values. */
  readonly other: number;
  readonly total: number;
}

const barWidth = 20;
const widestValue = 60;

export function facetsText(facets: readonly Facet[], options: ChartOptions): string {
  return facets.map((facet) => facetText(facet, options)).join('\n');
}

function facetText(
  { field, values, other, total }: Facet,
  { style, bars, columns }: ChartOptions,
): string {
  const rows = values.map(({ value, count }) => ({ name: toName(value), count }));
  if (other > 0) rows.push({ name: '(other)', count: other });
  const countWidth = Math.max(0, ...rows.map(({ count }) => String(count).length));
  const room = Math.max(10, columns - barWidth - countWidth - 12);
  const most = Math.min(widestValue, room);
  const nameWidth = Math.min(most, Math.max(0, ...rows.map(({ name }) => name.length)));
  const lines = rows.map(({ name, count }) => {
    const share = total === 0 ? 0 : count / total;
    const bar = style('cyan', toBar(share, barWidth, bars));
    const shown = shorten(name, most).padEnd(nameWidth);
    return `  ${shown}  ${String(count).padStart(countWidth)} ${toPercent(share)} ${bar}`.trimEnd();
  });
  const head = `${style('bold', field)}  ${style('dim', `${total} logs`)}`;
  return [head, ...lines].map((line) => `${line}\n`).join('');
}

function toName(value: string): string {
  return value === '' ? '(none)' : escapeControls(value);
}
