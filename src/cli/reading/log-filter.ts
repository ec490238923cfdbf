/**
 * The options by which every reading command chooses logs, and the query they make: the same
 * filters as the API's.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type FilterField, filterFields, logFields } from '../../model/log-fields.ts';
import { collect } from '../arguments.ts';
import type { ControlApi } from '../control-api.ts';
import { CommandError, exitCodes } from '../terminal.ts';
import { instantHelp, toInstant, type Zone } from './instant.ts';
import { camelCase } from './log-fields.ts';

export interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly utc?: true;
  readonly label?: readonly string[];
  readonly exclude?: readonly string[];
  readonly excludeLabel?: readonly string[];
}

const uuidForm = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const searchHelp =
  'words that must all occur in the message; after --, -word must not; \'"quoted"\' literally';

/** @returns the command, with the options and the argument `search`. */
export function addFilters(command: Command): Command {
  return addFilterOptions(command.argument('[search...]', searchHelp));
}

export function addFilterOptions(command: Command): Command {
  command.optionsGroup('Filters (repeat a flag to match any of its values):');
  for (const name of filterFields) {
    const { flag, filter } = logFields[name];
    const value = { exact: 'name', anyCase: 'word', stream: 'id or name' }[filter.match];
    command.option(`--${flag} <${value}>`, filter.help, collect);
  }
  return command
    .option('--label <key:value>', 'label; repeat it to match all of them', collectLabels)
    .option('--exclude <field:value>', 'not these, as severity:debug', collectExclusions)
    .option('--exclude-label <key:value>', 'not with this label', collectLabels)
    .optionsGroup('Options:');
}

export function addRange(command: Command): Command {
  return command
    .optionsGroup('Range:')
    .option('--since <time>', `from then on: ${instantHelp}`)
    .option('--until <time>', 'before then')
    .optionsGroup('Options:');
}

export function utcOption(): Option {
  return new Option('--utc', 'times in UTC instead of local ones');
}

export function zoneOf({ utc }: FilterOptions): Zone {
  return utc ? 'utc' : 'local';
}

/**
 * The query of a read; its times as `sinceTime` and `untilTime`.
 * @throws CommandError for a time or a stream that there is not
 */
export async function toFilterQuery(
  search: readonly string[],
  options: FilterOptions,
  api: ControlApi,
): Promise<URLSearchParams> {
  const query = new URLSearchParams();
  const words = search.join(' ').trim();
  if (words !== '') query.set('search', words);
  for (const name of ['label', 'exclude', 'excludeLabel'] as const) {
    for (const value of options[name] ?? []) query.append(name, value);
  }
  const now = Date.now();
  for (const option of ['since', 'until'] as const) {
    const text = options[option];
    if (text !== undefined) query.set(`${option}Time`, readInstant(option, text, { now, options }));
  }
  for (const name of filterFields) {
    const given = valuesOf(options, name);
    const values = name === 'streamId' ? await findStreams(given, api) : given;
    for (const value of values) query.append(name, value);
  }
  return query;
}

/** Commander names an option after its flag, in camel case. */
function valuesOf(options: FilterOptions, field: FilterField): readonly string[] {
  const values = options as Readonly<Record<string, readonly string[] | undefined>>;
  return values[camelCase(logFields[field].flag)] ?? [];
}

function readInstant(
  option: string,
  text: string,
  { now, options }: { now: number; options: FilterOptions },
): string {
  try {
    return toInstant(text, now, zoneOf(options));
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const words = `cannot use --${option} ${JSON.stringify(text)}: ${error.message}`;
    throw new CommandError(words, exitCodes.usage);
  }
}

/** Ids are taken as they are, so that only names need a token that may list streams. */
async function findStreams(given: readonly string[], api: ControlApi): Promise<string[]> {
  if (given.every((stream) => uuidForm.test(stream))) return [...given];
  const { streams } = await api
    .callInAccount<{ streams: { streamId: string; name: string }[] }>({
      method: 'GET',
      path: ['streams'],
    })
    .catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      const words = `cannot look up a stream by its name, give its id: ${error.message}`;
      throw new CommandError(words, error.exitCode);
    });
  return given.flatMap((stream) => {
    if (uuidForm.test(stream)) return [stream];
    const found = streams.filter(({ name }) => name === stream);
    if (found.length > 0) return found.map(({ streamId }) => streamId);
    const names = streams.map(({ name }) => name).join(', ');
    throw new CommandError(`cannot find a stream called ${stream}: there are ${names || 'none'}`);
  });
}

/** Fields of the API by their flags. */
const fieldsByFlag = new Map<string, FilterField>(
  filterFields.map((name) => [logFields[name].flag, name]),
);

function collectExclusions(text: string, earlier: readonly string[] = []): string[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give a field and its value as severity:debug.');
  const field = text.slice(0, colon);
  return [...earlier, (fieldsByFlag.get(field) ?? field) + text.slice(colon)];
}

function collectLabels(text: string, earlier: readonly string[] = []): string[] {
  // `key=value` is what other tools take; with a colon in it, it would be another label here.
  const label = text.includes(':') ? text : text.replace('=', ':');
  if (label.indexOf(':') > 0) return [...earlier, label];
  throw new InvalidArgumentError('Give a label as key:value.');
}
