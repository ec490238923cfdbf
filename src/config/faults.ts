/** Sentences for settings that are wrong: name, value, what the setting takes. Pure. */
import type { z } from 'zod';
import type { Unit } from './schema-parts.ts';
import type { Setting } from './settings.ts';

/** Values by section and name, as in the file. */
export type Tree = Record<string, unknown>;

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Sources {
  readonly tree: Tree;
  /** Flags and variables by the key that they set; other keys are of the file. */
  readonly origins: ReadonlyMap<string, string>;
  readonly settings: readonly Setting[];
}

/** @returns one sentence, or one for each unknown name. */
export function describeIssue(issue: z.core.$ZodIssue, sources: Sources): string[] {
  const { tree, origins, settings } = sources;
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => describeUnknownKey([...path, name].join('.'), settings));
  }
  const setting = settings.find((one) => one.path.every((name, i) => path[i] === name));
  if (setting === undefined) {
    const key = path.join('.');
    return [
      `cannot use ${key} of the file: it takes an object, such as ${toExample(key, settings)}`,
    ];
  }
  const name = origins.get(setting.key) ?? `${setting.key} of the file`;
  const shown = JSON.stringify(pick(tree, path));
  // The address of a server may have a password.
  const isSecret = /password|secret|sharedKey/i.test(setting.key) || /^".*@.*"$/.test(shown);
  const value = isSecret ? '(hidden)' : shown;
  const form = issue.code === 'custom' ? issue.message : toForm(setting);
  const used = path.length > setting.path.length ? `${value} in ${name}` : `${name} = ${value}`;
  return [`cannot use ${used}: it takes ${form}`];
}

/** @param known names of the same kind. @param where after the name */
export function describeUnknown(name: string, known: readonly string[], where = ''): string {
  const distances = known.map((one) => [distance(name, one), one] as const);
  const [near, nearest = ''] = distances.toSorted(([a], [b]) => a - b)[0] ?? [];
  const advice =
    near !== undefined && near <= maxDistance
      ? `did you mean ${nearest}?`
      : 'weir serve --help lists them';
  return `cannot use ${name}${where}: there is no such setting; ${advice}`;
}

/** Of a misspelt name. */
const maxDistance = 3;

function describeUnknownKey(key: string, settings: readonly Setting[]): string {
  const setting = settings.find((one) => one.key === key);
  if (setting === undefined) {
    const keys = settings.map((one) => one.key);
    return describeUnknown(key, keys, ' of the file');
  }
  // A known name with dots, which is the reference's form of it.
  const [section = '', name = ''] = setting.path;
  const nested = JSON.stringify({ [section]: { [name]: setting.defaultValue } });
  return `cannot use "${key}" of the file: sections are objects, such as ${nested}`;
}

function toExample(section: string, settings: readonly Setting[]): string {
  const setting = settings.find(({ path }) => path[0] === section && path.length > 1);
  return JSON.stringify({ [setting?.path[1] ?? '…']: setting?.defaultValue ?? '…' });
}

function toForm({ type, unit, choices, minimum, maximum, defaultValue }: Setting): string {
  if (type === 'integer') {
    const bounds = [minimum, maximum].map((bound) => toAmount(bound, unit)).join(' to ');
    const counted = unitWords[unit ?? 'count'] ?? '';
    return `a whole number${counted} from ${bounds}; default ${toAmount(defaultValue, unit)}`;
  }
  if (type === 'list') {
    const parts = choices === undefined ? 'texts' : `any of ${choices.join(', ')}`;
    return `a list of ${parts}, in the file ["…", "…"], elsewhere separated by commas`;
  }
  return choices === undefined ? 'a text' : `one of ${choices.join(', ')}`;
}

const unitWords: Readonly<Partial<Record<Unit, string>>> = {
  bytes: ' of bytes',
  ms: ' of milliseconds',
  s: ' of seconds',
  h: ' of hours',
  d: ' of days',
};

const sizes = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
] as const;

function toAmount(value: unknown, unit: Unit | undefined): string {
  const size = sizes.find(
    ([, bytes]) => typeof value === 'number' && value > 0 && value % bytes === 0,
  );
  if (unit !== 'bytes' || size === undefined) return String(value);
  return `${String(value)} (${Number(value) / size[1]} ${size[0]})`;
}

function pick(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, name) => (node as Tree | undefined)?.[name], tree);
}

/** Characters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, character] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let at = 0; at < to.length; at += 1) {
      const replaced = row[at]! + (character === to[at] ? 0 : 1);
      next.push(Math.min(replaced, row[at + 1]! + 1, next[at]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
