/** Frees disk space by retention and by the disk cap, in all tables alike. */
import type { Stream } from '../model/account.ts';
import type { ReadableStream } from '../model/plan.ts';
import { toReadableStream } from '../model/readable-streams.ts';
import type { ClickHouseStore } from './clickhouse.ts';
import {
  compileCountExpired,
  compileDays,
  compileDeleteExpired,
  compileDropDay,
  type DayRow,
  dayStartMs,
  type Expiry,
} from './sql/housekeeping.ts';
import { keptLongerMs, type StoredTable, storedTables } from './sql/tables.ts';

export interface DiskSpaceParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'forgetRecent'>;
  /** The streams of all accounts. */
  readonly streams: () => Promise<readonly Stream[]>;
  /** Streams of which no row is kept. */
  readonly deletedStreams: () => Promise<readonly DeletedStream[]>;
  /** Unix ms. */
  readonly now: () => number;
}

type DeletedStream = Pick<Expiry, 'accountId' | 'streamId'>;

export const msPerDay = 86_400_000;
/** Bounds the size of a statement. */
const streamsPerStatement = 200;

export function createDiskSpace({ store, streams, deletedStreams, now }: DiskSpaceParts) {
  const { connection, placement, events } = store;

  const days = () => connection.query<DayRow>('housekeeping', compileDays(placement));

  async function drop(dropped: readonly DayRow[], reason: 'retention' | 'disk_cap') {
    for (const [day, rows] of Map.groupBy(dropped, ([, ofDay]) => ofDay)) {
      for (const [table] of rows) {
        await connection.execute('housekeeping', compileDropDay(placement, table, day));
      }
      store.forgetRecent();
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
    /** Drops the days of receipt that are older than the longest retention. */
    async dropExpiredDays() {
      const all = await streams();
      if (all.length === 0) return;
      const oldestKeptMs = now() - longestRetentionDays(all) * msPerDay;
      const dropped = (await days()).filter((row) => neededUntilMs(row) <= oldestKeptMs);
      await drop(dropped, 'retention');
    },
    /**
     * Deletes the expired rows of streams with a shorter retention, and what a deletion of data or
     * of a stream left: rows that were still in the queue, or all if the store was away.
     */
    async deleteExpiredRows() {
      const all = await streams();
      const longest = longestRetentionDays(all);
      const expiries = all.flatMap((stream): Expiry[] => {
        const readable = toReadableStream(stream, now());
        const isDue = stream.retentionDays < longest || hasDeleted(readable);
        return isDue ? [{ ...readable, accountId: stream.accountId }] : [];
      });
      expiries.push(...(await deletedStreams()).map(toExpiry));
      for (const some of toBatches(expiries)) {
        for (const table of storedTables) await deleteExpired(table, some);
      }
    },
    /** Drops the oldest days, but never the newest, until all fits under the cap. */
    async dropDaysOverCap(maxDiskBytes: number) {
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

function longestRetentionDays(streams: readonly Stream[]): number {
  return streams.reduce((longest, { retentionDays }) => Math.max(longest, retentionDays), 0);
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

export function toBatches<Item>(all: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(all.length / streamsPerStatement) }, (_, i) =>
    all.slice(i * streamsPerStatement, (i + 1) * streamsPerStatement),
  );
}

/** The latest time of receipt, Unix ns. */
const lastNanos = (1n << 63n) - 2n;

function toExpiry({ accountId, streamId }: DeletedStream): Expiry {
  const limits = { receivedFromNanos: lastNanos + 1n, deletedUntilNanos: lastNanos };
  return { accountId, streamId, ...limits };
}

/** Whether rows that arrived late may be left of a deletion within the retention. */
function hasDeleted({ receivedFromNanos, deletedUntilNanos }: ReadableStream): boolean {
  return deletedUntilNanos !== undefined && receivedFromNanos === deletedUntilNanos + 1n;
}
