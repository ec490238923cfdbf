/** Options that choose logs, and the API query they become. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { fieldNames, filterFields, logFields } from '../../model/log-fields.ts';
import { labelForm, toGroupField } from '../../query/fields.ts';
import type { Api } from '../api.ts';
import { collect } from '../arguments.ts';
import { CommandError, exitCodes } from '../terminal.ts';
import { instantHelp, toInstant, type Zone } from './instant.ts';

/** Further keys are the filterable fields of a log, each a list of values. */
export interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly utc?: true;
  readonly query?: string;
  readonly minSeverity?: string;
  readonly label?: readonly string[];
  readonly exclude?: readonly string[];
  readonly excludeLabel?: readonly string[];
  readonly [field: string]: unknown;
}

const placeholders = {
  level: 'word',
  exact: 'name',
  hex: 'id',
  stream: 'id or name',
} as const;
const uuidForm = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const searchHelp =
  'words that the message must contain; -word (after --) excludes; \'"quoted"\' literally';

/** Adds the filters and the argument `search`. */
export function addFilters(command: Command): Command {
  return addFilterOptions(command.argument('[search...]', searchHelp));
}

export function addFilterOptions(command: Command): Command {
  command.optionsGroup('Filters (repeat a flag to match any of its values):');
  for (const name of filterFields) {
    const { flag, filter } = logFields[name];
    command.option(`--${flag} <${placeholders[filter.match]}>`, filter.help, collect);
  }
  return command
    .option('-q, --query <query>', "such as 'service:checkout severity>=error -path:*health*'")
    .option('--min-severity <word>', 'severity of this word or higher, such as warn')
    .option('--label <key:value>', 'label; if repeated, all must match', collectLabels)
    .option('--exclude <field:value>', 'exclude a value, such as severity:debug', collectExclusions)
    .option('--exclude-label <key:value>', 'exclude a label', collectLabels)
    .optionsGroup('Options:');
}

export function addRange(command: Command): Command {
  return command
    .optionsGroup('Range:')
    .option('--since <time>', `start: ${instantHelp}`)
    .option('--until <time>', 'end, exclusive')
    .optionsGroup('Options:');
}

export const groupFieldHelp = `${fieldNames.join(', ')}, or ${labelForm}`;

/** A field by any name that queries have for it, as the API takes it. */
export function toGroupFieldName(text: string): string {
  const name = text.trim();
  if (toGroupField(name) !== undefined) return name;
  throw new InvalidArgumentError(`Fields are ${groupFieldHelp}.`);
}

export function utcOption(): Option {
  return new Option('--utc', 'show times in UTC instead of local time');
}

export function zoneOf({ utc }: { readonly utc?: true }): Zone {
  return utc ? 'utc' : 'local';
}

/** The name that commander gives the value of an option. */
export function toOptionName(flag: string): string {
  return flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** @throws CommandError for an invalid time, an empty range or an unknown stream */
export async function toFilterQuery(
  search: readonly string[],
  options: FilterOptions,
  api: Api,
): Promise<URLSearchParams> {
  const query = new URLSearchParams();
  const words = search.join(' ').trim();
  if (words !== '') query.set('search', words);
  const append = (parameter: string, values: readonly string[] = []) => {
    for (const value of values) query.append(parameter, value);
  };
  for (const name of filterFields) {
    const { flag, filter } = logFields[name];
    const values = options[toOptionName(flag)] as readonly string[] | undefined;
    append(name, filter.match === 'stream' ? await findStreams(values ?? [], api) : values);
  }
  if (options.query !== undefined) query.set('query', options.query);
  if (options.minSeverity !== undefined) query.set('minSeverity', options.minSeverity);
  append('label', options.label);
  append('exclude', options.exclude);
  append('excludeLabel', options.excludeLabel);
  const now = Date.now();
  for (const option of ['since', 'until'] as const) {
    const text = options[option];
    if (text !== undefined) query.set(`${option}Time`, readInstant(option, text, { now, options }));
  }
  checkRange(query, options);
  return query;
}

/** The API answers an empty range with no logs. */
function checkRange(query: URLSearchParams, options: FilterOptions): void {
  const [from, to] = [query.get('sinceTime'), query.get('untilTime')];
  if (from === null || to === null) return;
  // Within a millisecond the range may still have logs.
  if (from !== to && Date.parse(from) <= Date.parse(to)) return;
  const { since = from, until = to } = options;
  throw new CommandError(
    `cannot read from --since ${since} to --until ${until}: the range is empty`,
    exitCodes.usage,
  );
}

/** With a range, by default the last hour. @throws CommandError as `toFilterQuery` */
export async function toBoundedQuery(
  search: readonly string[],
  options: FilterOptions,
  api: Api,
): Promise<URLSearchParams> {
  const query = await toFilterQuery(search, { until: 'now', ...options }, api);
  if (!query.has('sinceTime')) {
    const hourBefore = Math.max(0, Date.parse(query.get('untilTime')!) - 3_600_000);
    query.set('sinceTime', new Date(hourBefore).toISOString());
  }
  return query;
}

/** @throws CommandError for an invalid time */
export function readInstant(
  option: string,
  text: string,
  { now, options }: { now: number; options: FilterOptions },
): string {
  try {
    return toInstant(text, now, zoneOf(options));
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const message = `cannot use --${option} ${JSON.stringify(text)}: ${error.message}`;
    throw new CommandError(message, exitCodes.usage);
  }
}

/** Only names are looked up: listing streams takes a token with the scope admin. */
async function findStreams(given: readonly string[], api: Api): Promise<readonly string[]> {
  if (given.every((stream) => uuidForm.test(stream))) return given;
  const { streams } = await api
    .call<{ streams: { streamId: string; name: string }[] }>({ method: 'GET', path: ['streams'] })
    .catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      const message = `cannot look up a stream by its name, give its id: ${error.message}`;
      throw new CommandError(message, error.exitCode);
    });
  return given.flatMap((stream) => {
    if (uuidForm.test(stream)) return [stream];
    const found = streams.filter(({ name }) => name === stream);
    if (found.length > 0) return found.map(({ streamId }) => streamId);
    const names = streams.map(({ name }) => name).join(', ');
    throw new CommandError(`cannot find a stream called ${stream}: there are ${names || 'none'}`);
  });
}

function collectExclusions(text: string, earlier: readonly string[] = []): string[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give a field and its value as severity:debug.');
  const field = text.slice(0, colon);
  const parameter = filterFields.find((name) => logFields[name].flag === field) ?? field;
  return [...earlier, parameter + text.slice(colon)];
}

function collectLabels(text: string, earlier: readonly string[] = []): string[] {
  // `key=value`, as other tools take it; text with a colon is split at the colon.
  const label = text.includes(':') ? text : text.replace('=', ':');
  if (label.indexOf(':') > 0) return [...earlier, label];
  throw new InvalidArgumentError('Give a label as key:value.');
}
