/** Reads the files of deploy/ and docs/. */
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const yaml = createRequire(import.meta.url)('js-yaml') as { load: (text: string) => unknown };

export const repository = fileURLToPath(new URL('../..', import.meta.url));

export interface TextFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

/** @param pattern relative to the repository; ignored files are left out. */
export function readFiles(pattern: string): TextFile[] {
  return globSync(pattern, { cwd: repository, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.env')
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length))
    .filter((path) => !path.startsWith('deploy/secrets/'))
    .sort()
    .map((path) => ({ path, text: readText(path) }));
}

export function readText(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** The caller states the type and fails if it is wrong. */
export function readYaml<T>(path: string): T {
  return yaml.load(readText(path)) as T;
}

/** Each distinct match of a pattern, with the files that have it. */
export function mentionsOf(files: readonly TextFile[], pattern: RegExp): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of new Set(Array.from(text.matchAll(pattern), (match) => match[0]))) {
      found.set(name, [...(found.get(name) ?? []), path]);
    }
  }
  return found;
}

/** For `assert.deepEqual(…, [])`: mentions of unknown names. */
export function unknownOf(
  mentions: ReadonlyMap<string, readonly string[]>,
  isKnown: (name: string) => boolean,
): string[] {
  return Array.from(mentions)
    .filter(([name]) => !isKnown(name))
    .map(([name, paths]) => `${name} in ${paths.join(', ')}`);
}
