/**
 * Detects and repairs writes that the disk refused. Where ClickHouse throws, chDB only counts the
 * failure: the file is truncated, and its part replaces those it was merged from. The process that
 * sees the count rise marks the data directory and exits; the next one removes the truncated parts.
 * No acknowledged row is lost: an INSERT into such a part was not acknowledged, and a merge keeps
 * its source parts for a minute, which become active again.
 * https://github.com/chdb-io/chdb-core/blob/main/src/IO/WriteBufferFromFileDescriptor.cpp
 */
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renameDurably } from '../files/atomic-file.ts';
import type { Member } from './member.ts';

export interface WriteWatch {
  /**
   * Resolves while no write has failed. Otherwise it calls `failed` and never settles, so that no
   * further query gets a response.
   * @throws the error of `count`, for up to 30 s
   */
  check(): Promise<void>;
}

export interface WriteWatchOptions {
  /** Failed writes since the process started. */
  readonly count: () => Promise<number>;
  /** Failed writes that are known to be harmless. */
  readonly baseline: number;
  /** Called once. @param cleanAtMs Unix ms at which no write had failed yet */
  readonly failed: (cleanAtMs: number) => void;
  /** Unix ms. */
  readonly now: () => number;
}

export function createWriteWatch({ count, baseline, failed, now }: WriteWatchOptions): WriteWatch {
  let cleanAtMs = now();
  let hasFailed = false;

  async function isClean(): Promise<boolean> {
    const askedAtMs = now();
    try {
      if ((await count()) !== baseline) return false;
    } catch (error) {
      if (now() - cleanAtMs > maxUncountedMillis) return false;
      throw error;
    }
    cleanAtMs = Math.max(cleanAtMs, askedAtMs);
    return true;
  }

  return {
    async check() {
      if (await isClean()) return;
      if (!hasFailed) failed(cleanAtMs);
      hasFailed = true;
      await new Promise<never>(() => undefined);
    },
  };
}

/**
 * Without a count for this long, writes count as failed. Half the time a merge keeps its sources.
 */
const maxUncountedMillis = 30_000;

export class FailedWrite extends Error {
  override readonly name = 'FailedWrite';
  constructor() {
    super('the disk of the store refused a write');
  }
}

/** `system.events` has no row for an event that has not happened. */
export const countFailedWrites =
  "SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";

const fullDevice = '/dev/full';

/**
 * Checks, by a write to a device that is always full, that chDB counts or reports a failed write.
 * @returns the count so far
 * @throws FailedWrite when chDB has failed to write already; Error when it does neither
 */
export async function verifyFailedWritesAreCounted(member: Member): Promise<number> {
  const count = async () => {
    return readCount((await member.query(countFailedWrites, 'TabSeparated')).bytes);
  };
  if ((await count()) > 0) throw new FailedWrite();
  if (!existsSync(fullDevice)) return 0;
  const insert = `INSERT INTO FUNCTION file('${fullDevice}', 'TSV', 'a UInt8') SELECT 1`;
  const isReported = await member.query(insert, 'TabSeparated').then(
    () => false,
    () => true,
  );
  const baseline = await count();
  if (isReported || baseline > 0) return baseline;
  throw new Error('cannot start the engine: chDB neither reports nor counts writes that fail');
}

/** @param bytes of `countFailedWrites` as TabSeparated */
export function readCount(bytes: Uint8Array): number {
  return Number(Buffer.from(bytes).toString());
}

/** Created at the first start, since a full disk has no room for a new file. */
const cleanMark = 'writes-clean';
/** The same file, renamed when a write failed after its modification time. */
const failedMark = 'writes-failed';
/** Resolution of the modification times of file systems. */
const clockSlackMs = 100;

/**
 * Keeps an earlier mark.
 * @param cleanAtMs Unix ms at which no write had failed yet
 */
export function markFailedWrites(dataDir: string, cleanAtMs: number): void {
  if (failedWritesSince(dataDir) !== undefined) return;
  const mark = join(dataDir, cleanMark);
  utimesSync(mark, cleanAtMs / 1000, cleanAtMs / 1000);
  renameDurably(mark, join(dataDir, failedMark));
}

/** Records that failures before `nowMs` (Unix ms) are repaired. */
export function markCleanWrites(dataDir: string, nowMs: number): void {
  const [failed, clean] = [join(dataDir, failedMark), join(dataDir, cleanMark)];
  if (statSync(failed, { throwIfNoEntry: false }) !== undefined) {
    // Takes effect even when the disk has no room for the renaming.
    utimesSync(failed, nowMs / 1000, nowMs / 1000);
    renameDurably(failed, clean);
  }
  if (statSync(clean, { throwIfNoEntry: false }) === undefined) writeFileSync(clean, '');
}

/** @returns Unix ms after which a write failed; undefined = none did */
function failedWritesSince(dataDir: string): number | undefined {
  return statSync(join(dataDir, failedMark), { throwIfNoEntry: false })?.mtimeMs;
}

/**
 * Removes empty mutation files, which ClickHouse refuses to load; their mutations were not
 * acknowledged. To be called before chDB opens the store.
 */
export function removeEmptyMutations(storePath: string): void {
  for (const table of tableFolders(storePath)) {
    for (const name of readdirSync(table)) {
      const path = join(table, name);
      if (/^mutation_\d+\.txt$/.test(name) && statSync(path).size === 0) rmSync(path);
    }
  }
}

/**
 * Removes parts that ClickHouse detached as broken at this start and that were written after the
 * failed write.
 * @returns their paths; none without a failed write
 */
export function removeTruncatedParts(dataDir: string, storePath: string): string[] {
  const sinceMs = failedWritesSince(dataDir);
  if (sinceMs === undefined) return [];
  const detached = tableFolders(storePath).flatMap((table) => {
    const folder = join(table, 'detached');
    const names = entries(folder).filter((name) => name.startsWith('broken-on-start_'));
    return names.map((name) => join(folder, name));
  });
  const truncated = detached.filter((path) => writtenAtMs(path) >= sinceMs - clockSlackMs);
  for (const path of truncated) rmSync(path, { recursive: true, force: true });
  return truncated;
}

/** Time of its newest file; the folder's own time changes when ClickHouse moves it. */
function writtenAtMs(part: string): number {
  return Math.max(...readdirSync(part).map((name) => statSync(join(part, name)).mtimeMs), 0);
}

/** `store/<three characters>/<uuid>` */
function tableFolders(storePath: string): string[] {
  const root = join(storePath, 'store');
  return entries(root).flatMap((group) => {
    const folder = join(root, group);
    return entries(folder).map((table) => join(folder, table));
  });
}

function entries(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder);
}
