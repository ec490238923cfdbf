/** Loads the configuration: flags override the environment, which overrides the file. */
import { readFileSync } from 'node:fs';
import { describeIssue, describeUnknown, isTree, type Tree } from './faults.ts';
import { checkRoles } from './roles.ts';
import { type Config, configSchema } from './schema.ts';
import { listSettings, type Setting } from './settings.ts';

/** Invalid configuration; `faults` has one line per problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

export interface ConfigSources {
  /**
   * Flags without the program and command: `--ingest-port 0`, `--ingest-port=0`, `--config FILE`.
   */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @throws ConfigError with every fault found, not just the first. */
export function loadConfig(sources: ConfigSources): Readonly<Config> {
  const settings = listSettings();
  const faults: string[] = [];
  const flags = readFlags(sources.flags, faults);
  const tree = readFile(flags.get('--config'), sources.environment['WEIR_CONFIG'], faults);
  const origins = new Map<string, string>();
  for (const setting of settings) {
    const flag = flags.get(setting.flag);
    const text = flag ?? sources.environment[setting.environment];
    if (text === undefined) continue;
    origins.set(setting.key, flag === undefined ? setting.environment : setting.flag);
    put(tree, setting.path, fromText(setting, text));
  }
  reportUnknown(settings, flags, sources.environment, faults);
  const result = configSchema.safeParse(tree);
  if (!result.success) {
    for (const issue of result.error.issues) {
      faults.push(...describeIssue(issue, { tree, origins, settings }));
    }
  } else {
    faults.push(...checkRoles(result.data));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return deepFreeze(result.data as Config);
}

/** Variables of the client commands and of the tests. */
const otherNames = [
  'WEIR_CONFIG',
  'WEIR_URL',
  'WEIR_TOKEN',
  'WEIR_ACCOUNT',
  'WEIR_CA_FILE',
  'WEIR_RECEIVER_URL',
  'WEIR_INGEST_TOKEN',
  'WEIR_OPS_URL',
  'WEIR_JOURNALCTL',
  'WEIR_SEED',
];

function readFlags(flags: readonly string[], faults: string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i < flags.length; i += 1) {
    const flag = flags[i]!;
    const equals = flag.indexOf('=');
    const name = equals < 0 ? flag : flag.slice(0, equals);
    if (!name.startsWith('--')) {
      faults.push(
        `cannot use argument ${JSON.stringify(flag)}: settings are given as --name value`,
      );
      continue;
    }
    const value = equals < 0 ? flags[++i] : flag.slice(equals + 1);
    if (value === undefined) faults.push(`cannot use ${name}: it needs a value`);
    else if (values.has(name)) faults.push(`cannot use ${name} twice`);
    else values.set(name, value);
  }
  return values;
}

function readFile(flag: string | undefined, variable: string | undefined, faults: string[]): Tree {
  const file = flag ?? variable;
  if (file === undefined) return {};
  const origin = flag === undefined ? 'WEIR_CONFIG' : '--config';
  try {
    const tree: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isTree(tree)) return tree;
    faults.push(`cannot use file ${file} (${origin}): it does not hold a JSON object`);
  } catch (error) {
    faults.push(`cannot read file ${file} (${origin}): ${(error as Error).message}`);
  }
  return {};
}

function fromText(setting: Setting, text: string): unknown {
  if (setting.type === 'list') return text === '' ? [] : text.split(',').map((part) => part.trim());
  return setting.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}

function reportUnknown(
  settings: readonly Setting[],
  flags: ReadonlyMap<string, string>,
  environment: ConfigSources['environment'],
  faults: string[],
): void {
  const knownFlags = ['--config', ...settings.map(({ flag }) => flag)];
  const knownNames = [...settings.map((setting) => setting.environment), ...otherNames];
  for (const flag of flags.keys()) {
    if (!knownFlags.includes(flag)) faults.push(describeUnknown(flag, knownFlags));
  }
  for (const name of Object.keys(environment)) {
    if (name.startsWith('WEIR_') && !knownNames.includes(name)) {
      faults.push(describeUnknown(name, knownNames));
    }
  }
}

function put(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree;
  for (const name of path.slice(0, -1)) {
    if (node[name] === undefined) node[name] = {};
    // What is no object is reported with the other faults of the file.
    if (!isTree(node[name])) return;
    node = node[name];
  }
  node[path.at(-1)!] = value;
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child as object);
  }
  return Object.freeze(value);
}
