/**
 * The options by which every reading command chooses logs, and the query they make: the same
 * filters as the API's.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../arguments.ts';
import type { ControlApi } from '../control-api.ts';
import { CommandError, exitCodes } from '../terminal.ts';
import { instantHelp, toInstant, type Zone } from './instant.ts';

export interface FilterOptions {
  readonly since?: string;
  readonly until?: string;
  readonly utc?: true;
  readonly stream?: readonly string[];
  readonly label?: readonly string[];
  readonly exclude?: readonly string[];
  readonly excludeLabel?: readonly string[];
  readonly severity?: readonly string[];
  readonly host?: readonly string[];
  readonly service?: readonly string[];
  readonly namespace?: readonly string[];
  readonly k8sCluster?: readonly string[];
  readonly k8sNamespace?: readonly string[];
  readonly k8sNode?: readonly string[];
  readonly k8sPod?: readonly string[];
  readonly k8sContainer?: readonly string[];
  readonly k8sDeployment?: readonly string[];
}

/** Options that repeat, by the parameter that each one means. */
const equalities = {
  severity: 'severity',
  service: 'serviceName',
  namespace: 'serviceNamespace',
  host: 'host',
  label: 'label',
  exclude: 'exclude',
  excludeLabel: 'excludeLabel',
  k8sCluster: 'k8sCluster',
  k8sNamespace: 'k8sNamespace',
  k8sNode: 'k8sNode',
  k8sPod: 'k8sPod',
  k8sContainer: 'k8sContainer',
  k8sDeployment: 'k8sDeployment',
} as const satisfies Partial<Record<keyof FilterOptions, string>>;

const uuidForm = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const searchHelp =
  'words that must all occur in the message; after --, -word must not; \'"quoted"\' literally';

/** @returns the command, with the options and the argument `search`. */
export function addFilters(command: Command): Command {
  return addFilterOptions(command.argument('[search...]', searchHelp));
}

export function addFilterOptions(command: Command): Command {
  const repeated = 'repeat it for any of several';
  return command
    .optionsGroup('Filters:')
    .option('--severity <word>', `severity, in any case; ${repeated}`, collect)
    .option('--service <name>', 'name of the service', collect)
    .option('--namespace <name>', 'namespace of the service', collect)
    .option('--host <name>', 'host that sent it', collect)
    .option('--label <key:value>', 'label; repeat it for all of several', collectLabels)
    .option('--exclude <field:value>', 'not these, as severity:debug', collectExclusions)
    .option('--exclude-label <key:value>', 'not with this label', collectLabels)
    .option('--stream <id or name>', 'stream; all of the account by default', collect)
    .option('--k8s-cluster <name>', 'Kubernetes cluster', collect)
    .option('--k8s-namespace <name>', 'Kubernetes namespace', collect)
    .option('--k8s-node <name>', 'Kubernetes node', collect)
    .option('--k8s-pod <name>', 'Kubernetes pod', collect)
    .option('--k8s-container <name>', 'Kubernetes container', collect)
    .option('--k8s-deployment <name>', 'Kubernetes deployment', collect)
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
  for (const [option, parameter] of Object.entries(equalities)) {
    for (const value of options[option as keyof typeof equalities] ?? []) {
      query.append(parameter, value);
    }
  }
  const now = Date.now();
  for (const option of ['since', 'until'] as const) {
    const text = options[option];
    if (text !== undefined) query.set(`${option}Time`, readInstant(option, text, { now, options }));
  }
  for (const streamId of await findStreams(options.stream ?? [], api)) {
    query.append('streamId', streamId);
  }
  return query;
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

/** Fields by what their options are called, beside the API's own names. */
const fieldsByOption: Readonly<Record<string, string>> = {
  service: 'serviceName',
  namespace: 'serviceNamespace',
  stream: 'streamId',
};

function collectExclusions(text: string, earlier: readonly string[] = []): string[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give a field and its value as severity:debug.');
  const field = text.slice(0, colon);
  return [...earlier, (fieldsByOption[field] ?? field) + text.slice(colon)];
}

function collectLabels(text: string, earlier: readonly string[] = []): string[] {
  // `key=value` is what other tools take; with a colon in it, it would be another label here.
  const label = text.includes(':') ? text : text.replace('=', ':');
  if (label.indexOf(':') > 0) return [...earlier, label];
  throw new InvalidArgumentError('Give a label as key:value.');
}
