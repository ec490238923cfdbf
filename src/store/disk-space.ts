/** Frees disk space by retention and by the disk cap, in all tables alike, and by downsampling. */
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
      for (let at = 0; at < expiries.length; at += streamsPerDeletion) {
        const some = expiries.slice(at, at + streamsPerDeletion);
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

function toExpiry(stream: Stream, nowMs: number): Expiry {
  const { accountId, streamId, retentionDays } = stream;
  const receivedFromNanos = BigInt(nowMs - retentionDays * msPerDay) * 1_000_000n;
  return { accountId, streamId, receivedFromNanos };
}

export interface Downsampling {
  /** Finds the days that may have something to delete. */
  plan(): Promise<void>;
  /** Rewrites the next of them that has, if there is one. */
  rewriteNextDay(): Promise<void>;
}

/** Each takes about 50 bytes of memory while a statement runs. */
const maxRowsKeptByStatement = 2_000_000;

interface Due extends DownsampledDay {
  /** Size of the day on disk in digits, from which a change is noticed. */
  readonly bytes: string;
}

export function createDownsampling({ store, streams, now }: DiskSpaceParts): Downsampling {
  const { connection, placement, events } = store;
  let due: Due[] = [];
  /** Bytes of the days that had nothing to delete. */
  const doneBytes = new Map<string, string>();

  async function isMutating(): Promise<boolean> {
    const count = compileCountMutations(placement);
    const [row] = await connection.query<[string]>('housekeeping', count);
    return Number(row?.[0]) > 0;
  }

  async function rewrite(of: Due, kept: number): Promise<void> {
    const count = Math.ceil(kept / maxRowsKeptByStatement);
    for (let index = 0; index < count; index++) {
      const share = { index, count };
      await connection.execute('housekeeping', compileDownsample(placement, of, share));
    }
  }

  return {
    async plan() {
      const all = (await streams()).filter(({ downsampling }) => downsampling !== null);
      due = [];
      if (all.length === 0) return;
      const days = await connection.query<DayRow>('housekeeping', compileDays(placement));
      due = all
        .flatMap((stream) => days.flatMap((row) => toDue(stream, row, now())))
        .filter((of) => doneBytes.get(keyOf(of)) !== of.bytes);
    },
    async rewriteNextDay() {
      if (due.length === 0 || (await isMutating())) return;
      for (let of = due.shift(); of !== undefined; of = due.shift()) {
        const count = compileCountDownsampled(placement, of);
        const [row] = await connection.query<DownsampledCounts>('housekeeping', count);
        const [kept = 0, rows = 0, intervals = 0] = (row ?? []).map(Number);
        if (intervals === 0) {
          doneBytes.set(keyOf(of), of.bytes);
          continue;
        }
        await rewrite(of, kept);
        events.dayDownsampled({ table: of.table, day: of.day, streamId: of.streamId, rows, kept });
        return;
      }
    },
  };
}

function toDue(
  { accountId, streamId, downsampling }: Stream,
  [stored, day, bytes]: DayRow,
  nowMs: number,
): Due[] {
  const table = sampleTables.find((name) => name === stored);
  const ageDays = (nowMs - dayStartMs(day)) / msPerDay - 1;
  const level = downsamplingOf(downsampling).findLast((one) => one.afterDays <= ageDays);
  if (table === undefined || level === undefined) return [];
  return [{ table, day, bytes, accountId, streamId, intervalMs: level.intervalMs }];
}

function keyOf({ table, day, streamId, intervalMs }: Due): string {
  return `${table} ${day} ${streamId} ${intervalMs}`;
}
