/**
 * Tells when chDB failed to write. Where ClickHouse throws, chDB counts a write that the disk
 * refused and goes on: the file is cut short, and its part takes the place of those it was merged
 * from. https://github.com/chdb-io/chdb-core/blob/main/src/IO/WriteBufferFromFileDescriptor.cpp
 */
import { existsSync } from 'node:fs';
import type { Member } from './member.ts';

export interface WriteWatch {
  /**
   * Resolves when no write has failed so far. After one that did it calls `failed` and never
   * settles, so that nothing is answered any more. @throws what `count` throws, for a while
   */
  check(): Promise<void>;
}

export interface WriteWatchParts {
  /** Failed writes since the process started. */
  readonly count: () => Promise<number>;
  /** Of these, the ones that are known and harmless. */
  readonly baseline: number;
  /** Told once. @param cleanAtMs Unix ms at which no write had failed yet */
  readonly failed: (cleanAtMs: number) => void;
  /** Unix ms. */
  readonly now: () => number;
}

export function createWriteWatch({ count, baseline, failed, now }: WriteWatchParts): WriteWatch {
  let cleanAtMs = now();
  let hasFailed = false;

  async function isClean(): Promise<boolean> {
    const askedAtMs = now();
    try {
      if ((await count()) !== baseline) return false;
    } catch (error) {
      if (now() - cleanAtMs > maxBlindMillis) return false;
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

/** Without a count for so long, writes are taken to have failed: half of what merges allow. */
const maxBlindMillis = 30_000;

/** The disk refused a write of chDB. */
export class FailedWrite extends Error {
  override readonly name = 'FailedWrite';
  constructor() {
    super('the disk of the store refused a write');
  }
}

/** No row stands for an event that has not happened. */
export const countFailedWrites =
  "SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";

const fullDevice = '/dev/full';

/**
 * Proves on a device that is always full that chDB counts, or reports, a write that fails.
 * @returns the count from which one more is a failure
 * @throws FailedWrite where chDB has failed to write already; Error where it does neither
 */
export async function proveWritesAreCounted(member: Member): Promise<number> {
  const count = async () =>
    readCount((await member.query(countFailedWrites, 'TabSeparated')).bytes);
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
