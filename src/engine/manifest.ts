/**
 * `engine.json` in the data directory: which engine wrote the data last. chDB promises no way back
 * to an older version, so an older engine must not open them.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { replaceTextFile } from '../files/whole-file.ts';
import { hasErrorCode } from '../std/error-text.ts';

export interface Manifest {
  /** Version of the npm package `chdb`. */
  readonly engineVersion: string;
  readonly clickhouseVersion: string;
}

const fileName = 'engine.json';

/** Version of the engine in this installation. */
export function installedEngineVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('chdb/package.json') as { version: string }).version;
}

/** @throws Error when the data were written by a newer engine, or the manifest cannot be read */
export async function assertManifest(dataDir: string, installed: string): Promise<void> {
  const path = join(dataDir, fileName);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return;
  const written = writtenVersion(text);
  if (written === undefined) {
    const advice = 'restore it, or remove it if no newer weir wrote these data';
    throw new Error(`cannot open data directory ${dataDir}: ${path} is no manifest; ${advice}`);
  }
  if (compareVersions(written, installed) > 0) {
    const versions = `written by engine ${written}, this weir has ${installed}`;
    throw new Error(`cannot open data directory ${dataDir}: ${versions}; upgrade weir`);
  }
}

/** Survives a power cut once it returns. */
export function writeManifest(dataDir: string, manifest: Manifest): void {
  replaceTextFile(join(dataDir, fileName), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/**
 * Negative, zero or positive as `a` is older than, the same as or newer than `b`; looks at the
 * numbers only.
 */
export function compareVersions(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  const [release = ''] = version.split(/[-+]/);
  return release.split('.').map(Number);
}

function writtenVersion(text: string): string | undefined {
  try {
    const { engineVersion } = JSON.parse(text) as Partial<Manifest>;
    const isVersion = typeof engineVersion === 'string' && /^\d+(\.\d+)*/.test(engineVersion);
    return isVersion ? engineVersion : undefined;
  } catch {
    return undefined;
  }
}
