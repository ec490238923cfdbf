/** `weir facets [field…]`: the commonest values of fields. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { filterFields, logFields } from '../model/log-fields.ts';
import { toInteger } from './arguments.ts';
import { barSetOf } from './reading/bars.ts';
import { type Facet, facetsText } from './reading/facets-text.ts';
import {
  addFilterOptions,
  addRange,
  type FilterOptions,
  toFilterQuery,
} from './reading/log-filter.ts';
import type { OpenSession } from './session.ts';

interface FacetsOptions extends FilterOptions {
  readonly top: number;
  readonly search?: string;
  readonly ascii?: true;
}

/** Facets of the API by the flags of their fields. */
const facetsByFlag = new Map<string, string>(
  filterFields.flatMap((name) => {
    const { flag, filter } = logFields[name];
    return filter.facets.slice(0, 1).map((facet) => [flag, facet] as const);
  }),
);
const mostValues = 100;

const examples = `
Examples:
  weir facets
  weir facets host k8s-pod --since 1h --severity error --top 5
  weir facets service --search timeout --json | jq -r '.facets[0].values[].value'`;

export function addFacetsCommand(program: Command, open: OpenSession): void {
  addRange(addFilterOptions(program.command('facets')))
    .description('show the commonest values of fields; of severity, service and host by default')
    .addArgument(new Argument('[field...]').choices([...facetsByFlag.keys()]))
    .option('--search <words>', 'words that must all occur in the message')
    .option('--top <n>', `values of each field, at most ${mostValues}`, toTop, 10)
    .option('--ascii', 'bars of # alone')
    .addOption(new Option('--utc', 'read times without an offset as UTC'))
    .addHelpText('after', examples)
    .action(async (given: string[], options: FacetsOptions, self: Command) => {
      const { reads, api, output, format, terminal } = open(self);
      const fields = given.length > 0 ? given : ['severity', 'service', 'host'];
      const names = fields.map((field) => facetsByFlag.get(field) ?? field);
      const query = await toFilterQuery([options.search ?? ''], options, api);
      query.set('fields', names.join(','));
      query.set('topK', String(options.top));
      const answer = await reads.get<{ facets: Facet[] }>(['facets', 'batch'], query);
      if (format === 'json') {
        output.record(answer);
        return;
      }
      const bars = options.ascii ? 'ascii' : barSetOf(terminal.environment);
      const { columns, styleOut: style } = terminal;
      const facets = answer.facets.map((facet, i) => ({ ...facet, field: fields[i]! }));
      await output.write(facetsText(facets, { columns, style, bars }));
    });
}

function toTop(text: string): number {
  const top = toInteger(text);
  if (top >= 1 && top <= mostValues) return top;
  throw new InvalidArgumentError(`Give a number from 1 to ${mostValues}.`);
}
