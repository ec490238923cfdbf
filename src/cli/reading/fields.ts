/** `weir fields [field]`: the fields and labels that logs have, or the values of one. */
import { Argument, type Command } from 'commander';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import {
  addFilterOptions,
  addRange,
  type FilterOptions,
  groupFieldHelp,
  toFilterQuery,
  toGroupFieldName,
} from './query.ts';

interface FieldsOptions extends FilterOptions {
  readonly prefix?: string;
  readonly limit?: number;
}

/** Either of fields or of values. */
interface FieldsResponse {
  readonly fields?: readonly object[];
  readonly values?: readonly object[];
  readonly sampled: number;
  readonly exact: boolean;
}

const maxLimit = 1_000;
const maxValues = 100;

const examples = `
Counts are of the newest logs that match, as many as can be read at once.

Examples:
  weir fields --since 1d --service checkout
  weir fields customer.id --prefix 42
  weir fields --json | jq -r '.fields[].name'`;

export function define(command: Command, terminal: Terminal): void {
  addRange(addFilterOptions(command))
    .addArgument(new Argument('[field]', groupFieldHelp).argParser(toGroupFieldName))
    .option('--prefix <text>', 'with a field: only values that begin with it')
    .option(
      '--limit <n>',
      `fields, at most ${maxLimit}, or values, at most ${maxValues}`,
      integerWithin(1, maxLimit),
    )
    .option('--utc', 'parse times without an offset as UTC')
    .addHelpText('after', examples)
    .action(async (field: string | undefined, options: FieldsOptions) => {
      const { api, output } = openSession(command, terminal);
      const query = await toFilterQuery([], options, api);
      if (options.limit !== undefined) query.set('limit', String(options.limit));
      if (options.prefix !== undefined) query.set('prefix', options.prefix);
      const path = field === undefined ? ['fields'] : ['fields', field, 'values'];
      const response = await api.get<FieldsResponse>(path, query);
      const { fields, values = [], sampled, exact } = response;
      if (output.format === 'json') return output.record(response);
      if (fields === undefined) output.list({ values }, ['value', 'count']);
      else output.list({ fields }, ['name', 'count']);
      if (!exact) terminal.writeError(`weir: counted the newest ${sampled} logs that match\n`);
    });
}
