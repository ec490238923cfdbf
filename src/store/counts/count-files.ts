/**
 * Counts on disk, so that they survive a restart: one file for each part, which is used only while
 * the store has a part of this name whose files have the same checksum. A file that is torn, of
 * another version or of a part that is gone is ignored, so none is synced.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { Connection } from '../connection.ts';
import { compilePartHashes, type PartHashRow } from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';
import type { CountEntries, SettledEntry } from './count-entries.ts';

/** Raised with each change of `PartCounts`. */
const version = 4;
/** A store that hangs neither delays a start nor an end for longer. */
const hashesTimeoutMs = 5_000;
const suffix = '.counts';
const digestBytes = 32;

interface FileContent {
  readonly version: number;
  readonly hash: string;
  readonly entries: readonly SettledEntry[];
}

export function createCountFiles(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  { folder, entries }: { readonly folder: string; readonly entries: CountEntries },
) {
  /** By part, the revision of its counts that its file has. */
  const saved = new Map<string, number>();

  async function readHashes(): Promise<ReadonlyMap<string, string>> {
    const timeout = AbortSignal.timeout(hashesTimeoutMs);
    const statement = compilePartHashes(placement);
    return new Map(await connection.query<PartHashRow>('housekeeping', statement, timeout));
  }

  return {
    /** Adds what is on disk. */
    async load(): Promise<void> {
      const names = await filesIn(folder);
      if (names.length === 0) return;
      const hashes = await readHashes();
      for (const name of names) {
        const part = name.slice(0, -suffix.length);
        const content = decode(await readFile(join(folder, name)));
        if (content === undefined || content.hash !== hashes.get(part)) continue;
        for (const entry of content.entries) entries.restore(part, entry);
        saved.set(part, entries.revisionOf(part));
      }
    },
    /** Writes the counts of parts that changed, and removes files of parts that are gone. */
    async save(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const hashes = await readHashes();
      for (const name of await filesIn(folder)) {
        const part = name.slice(0, -suffix.length);
        if (hashes.has(part)) continue;
        await unlink(join(folder, name));
        saved.delete(part);
      }
      for (const [part, hash] of hashes) {
        const revision = entries.revisionOf(part);
        if (revision === (saved.get(part) ?? 0)) continue;
        const content: FileContent = { version, hash, entries: entries.settledOf(part) };
        await writeFile(join(folder, part + suffix), encode(content), { mode: 0o600 });
        saved.set(part, revision);
      }
    },
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(suffix));
}

function encode(content: FileContent): Uint8Array[] {
  const bytes = serialize(content);
  return [digestOf(bytes), bytes];
}

/** @returns undefined for a file that is not whole or of another version */
function decode(file: Buffer): FileContent | undefined {
  const bytes = file.subarray(digestBytes);
  if (!digestOf(bytes).equals(file.subarray(0, digestBytes))) return undefined;
  const content = deserialize(bytes) as FileContent;
  return content.version === version ? content : undefined;
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
