/** Frees disk space by retention and by the disk cap, in all tables alike, and by downsampling. */
import { hash } from 'node:crypto';
import type { Stream } from '../model/account.ts';
import { downsamplingOf } from '../model/downsampling.ts';
import type { ClickHouseStore } from './clickhouse.ts';
import {
  compileCountDownsampled,
  compileCountExpired,
  compileCountMutations,
  compileDays,
  compileDeleteExpired,
  compileDownsample,
  compileDropDay,
  type DayRow,
  dayStartMs,
  type DownsampledCounts,
  type DownsampledDay,
  type Expiry,
  sampleTables,
} from './sql/housekeeping.ts';
import { keptLongerMs, type StoredTable, storedTables } from './sql/tables.ts';

export interface DiskSpaceParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'forgetRecentLogs'>;
  /** The streams of all accounts. */
  readonly streams: () => Promise<readonly Stream[]>;
  /** Unix ms. */
  readonly now: () => number;
}

export interface DiskSpace {
  /** Drops the days of receipt that are older than the longest retention. */
  dropExpiredDays(): Promise<void>;
  /** Deletes the expired rows of streams with a shorter retention. */
  deleteExpiredRows(): Promise<void>;
  /** Drops the oldest days, but never the newest, until all fits under the cap. */
  dropDaysOverCap(maxDiskBytes: number): Promise<void>;
}

const msPerDay = 86_400_000;
/** Bounds the size of a statement. */
const streamsPerDeletion = 200;

export function createDiskSpace({ store, streams, now }: DiskSpaceParts): DiskSpace {
  const { connection, placement, events } = store;

  const days = () => connection.query<DayRow>('housekeeping', compileDays(placement));

  async function drop(dropped: readonly DayRow[], reason: 'retention' | 'disk_cap') {
    for (const [day, rows] of Map.groupBy(dropped, ([, ofDay]) => ofDay)) {
      for (const [table] of rows) {
        await connection.execute('housekeeping', compileDropDay(placement, table, day));
      }
      store.forgetRecentLogs();
      events.dayDropped(day, reason, sumBytes(rows));
    }
  }

  async function deleteExpired(table: StoredTable, expiries: readonly Expiry[]) {
    const count = compileCountExpired(placement, table, expiries);
    const [row] = await connection.query<[string]>('housekeeping', count);
    if (Number(row?.[0]) === 0) return;
    await connection.execute('housekeeping', compileDeleteExpired(placement, table, expiries));
    events.rowsExpired(Number(row?.[0]));
  }

  return {
    async dropExpiredDays() {
      const kept = (await streams()).map((stream) => stream.retentionDays);
      if (kept.length === 0) return;
      const oldestKeptMs = now() - Math.max(...kept) * msPerDay;
      const dropped = (await days()).filter((row) => neededUntilMs(row) <= oldestKeptMs);
      await drop(dropped, 'retention');
    },
    async deleteExpiredRows() {
      const all = await streams();
      const longest = Math.max(...all.map((stream) => stream.retentionDays));
      const expiries = all
        .filter((stream) => stream.retentionDays < longest)
        .map((stream) => toExpiry(stream, now()));
      for (const some of toBatches(expiries)) {
        for (const table of storedTables) await deleteExpired(table, some);
      }
    },
    async dropDaysOverCap(maxDiskBytes) {
      let left = await days();
      const oldestFirst = new Set(left.filter(holdsData).map(([, day]) => day));
      for (const day of [...oldestFirst].slice(0, -1)) {
        if (sumBytes(left) <= maxDiskBytes) return;
        const isDropped = (row: DayRow) => (holdsData(row) ? row[1] <= day : row[1] < day);
        await drop(left.filter(isDropped), 'disk_cap');
        left = left.filter((row) => !isDropped(row));
      }
    },
  };
}

function neededUntilMs([table, day]: DayRow): number {
  return dayStartMs(day) + msPerDay + keptLongerMs(table);
}

/** Samples of the next day may need the labels of a day, so labels are dropped a day later. */
function holdsData([table]: DayRow): boolean {
  return table !== 'series';
}

function sumBytes(rows: readonly DayRow[]): number {
  return rows.reduce((sum, [, , bytes]) => sum + Number(bytes), 0);
}

function toBatches<Item>(all: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(all.length / streamsPerDeletion) }, (_, i) =>
    all.slice(i * streamsPerDeletion, (i + 1) * streamsPerDeletion),
  );
}

function toExpiry(stream: Stream, nowMs: number): Expiry {
  const { accountId, streamId, retentionDays } = stream;
  const receivedFromNanos = BigInt(nowMs - retentionDays * msPerDay) * 1_000_000n;
  return { accountId, streamId, receivedFromNanos };
}

export interface Downsampling {
  /** Finds the days that may have something to delete. */
  plan(): Promise<void>;
  /**
   * Rewrites the next of them that has, if it is found within seconds. A day that fails is tried
   * again after the others.
   * @param closing no statement begins after it fires
   */
  rewriteNextDay(closing: AbortSignal): Promise<void>;
}

/** Each takes about 50 bytes of memory while a statement runs. */
const maxRowsKeptByStatement = 2_000_000;

/** Bounds the counts of a round, for which retention and the disk cap wait. */
const searchMs = 5_000;

interface Due extends DownsampledDay {
  /** Size of the day on disk in digits, from which a change is noticed. */
  readonly bytes: string;
}

export function createDownsampling({ store, streams, now }: DiskSpaceParts): Downsampling {
  const { connection, placement, events } = store;
  let due: Due[] = [];
  /** Digests of days that had nothing to delete. */
  const done = new Set<string>();

  async function isMutating(): Promise<boolean> {
    const count = compileCountMutations(placement);
    const [row] = await connection.query<[string]>('housekeeping', count);
    return Number(row?.[0]) > 0;
  }

  /** @returns whether there was something to delete */
  async function rewrite(of: Due, closing: AbortSignal): Promise<boolean> {
    const counted = compileCountDownsampled(placement, of);
    const counts = await connection.query<DownsampledCounts>('housekeeping', counted);
    if (counts.length === 0) return false;
    const streamIds = new Set(counts.map(([streamId]) => streamId));
    const rewritten = { ...of, streams: of.streams.filter((one) => streamIds.has(one.streamId)) };
    const kept = counts.reduce((sum, [, ofStream]) => sum + Number(ofStream), 0);
    const rows = counts.reduce((sum, [, , ofStream]) => sum + Number(ofStream), 0);
    const count = Math.ceil(kept / maxRowsKeptByStatement);
    for (let index = 0; index < count; index++) {
      closing.throwIfAborted();
      const share = { index, count };
      await connection.execute('housekeeping', compileDownsample(placement, rewritten, share));
    }
    events.dayDownsampled({ table: of.table, day: of.day, streams: streamIds.size, rows, kept });
    return true;
  }

  return {
    async plan() {
      const all = (await streams()).filter(({ downsampling }) => downsampling !== null);
      due = [];
      if (all.length === 0) return;
      const days = await connection.query<DayRow>('housekeeping', compileDays(placement));
      const batches = toBatches(all);
      due = days
        .flatMap((row) => batches.flatMap((some) => toDue(some, row, now())))
        .filter((of) => !done.has(digestOf(of)));
    },
    async rewriteNextDay(closing) {
      if (due.length === 0 || (await isMutating())) return;
      const untilMs = now() + searchMs;
      while (!closing.aborted && now() < untilMs) {
        const of = due.shift();
        if (of === undefined) return;
        try {
          if (await rewrite(of, closing)) return;
        } catch (error) {
          due.push(of);
          throw error;
        }
        done.add(digestOf(of));
      }
    },
  };
}

function toDue(streams: readonly Stream[], [stored, day, bytes]: DayRow, nowMs: number): Due[] {
  const table = sampleTables.find((name) => name === stored);
  if (table === undefined) return [];
  const ageDays = (nowMs - dayStartMs(day)) / msPerDay - 1;
  const byInterval = Map.groupBy(
    streams,
    ({ downsampling }) =>
      downsamplingOf(downsampling).findLast((one) => one.afterDays <= ageDays)?.intervalMs,
  );
  byInterval.delete(undefined);
  return Array.from(byInterval, ([intervalMs, all]) => {
    const owners = all.map(({ accountId, streamId }) => ({ accountId, streamId }));
    return { table, day, bytes, intervalMs: intervalMs!, streams: owners };
  });
}

function digestOf(of: Due): string {
  return hash('sha256', JSON.stringify(of));
}
