/**
 * What keeps the store's disk in bounds and its searches fast while nobody asks: drops days that
 * nobody keeps, deletes rows of streams that keep less, drops the oldest day at the disk cap, and
 * builds the search index that inserts leave out. Reads never depend on it: they apply retention
 * themselves.
 */
import type { Stream } from '../model/account.ts';
import type { ClickHouseStore } from './clickhouse.ts';
import { createSearchIndexes } from './search-indexes.ts';
import { tableName } from './sql/columns.ts';
import {
  compileCountExpired,
  compileDays,
  compileDeleteExpired,
  compileDropDay,
  type DayRow,
  dayStartMs,
  type Expiry,
} from './sql/housekeeping.ts';

export interface HousekeepingOptions {
  /** The oldest day is dropped when the logs take more; undefined = no cap. */
  readonly maxDiskBytes: number | undefined;
  /** Between two rounds. */
  readonly everyMs: number;
  /** Between two deletions of the rows of shorter streams; each rewrites the days it touches. */
  readonly deleteEveryMs: number;
  /** The search index is built only while fewer rows than this arrive, averaged over a round. */
  readonly quietRowsPerSecond: number;
}

export const housekeepingDefaults: HousekeepingOptions = {
  maxDiskBytes: undefined,
  everyMs: 10_000,
  deleteEveryMs: 86_400_000,
  quietRowsPerSecond: 20_000,
};

export interface HousekeepingParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'database' | 'events' | 'insertedRows'>;
  /** Of all accounts. */
  readonly streams: () => Promise<readonly Stream[]>;
  /** Unix ms. */
  readonly now: () => number;
}

export interface Housekeeping {
  /** Drops the days of receipt that no stream keeps any more. */
  dropExpiredDays(): Promise<void>;
  /** Deletes the rows that their own stream keeps no longer. */
  deleteExpiredRows(): Promise<void>;
  /** Drops the oldest days, but never the newest, until the logs fit under the cap. */
  dropDaysOverCap(): Promise<void>;
  /** Builds the search index of what was inserted or merged since. */
  indexMessages(): Promise<void>;
  /** Runs all of it as the options say; a task that fails is logged and tried again. */
  runRound(): Promise<void>;
}

const msPerDay = 86_400_000;

export function createHousekeeping(
  parts: HousekeepingParts,
  options: HousekeepingOptions,
): Housekeeping {
  const { store, streams, now } = parts;
  const { connection, database, events } = store;
  const table = tableName(database, 'logs');
  const indexes = createSearchIndexes(parts);
  let deletedAtMs = 0;

  const days = () => connection.query<DayRow>('housekeeping', compileDays(database));

  async function dropDay([day, , bytes]: DayRow, reason: 'retention' | 'disk_cap') {
    await connection.execute('housekeeping', compileDropDay(table, day));
    events.dayDropped(day, reason, Number(bytes));
  }

  async function dropExpiredDays() {
    const kept = (await streams()).map((stream) => stream.retentionDays);
    if (kept.length === 0) return;
    const oldestKeptMs = now() - Math.max(...kept) * msPerDay;
    for (const day of await days()) {
      if (dayStartMs(day[0]) + msPerDay <= oldestKeptMs) await dropDay(day, 'retention');
    }
  }

  async function deleteExpiredRows() {
    const all = await streams();
    const longest = Math.max(...all.map((stream) => stream.retentionDays));
    const expiries = all
      .filter((stream) => stream.retentionDays < longest)
      .map((stream) => toExpiry(stream, now()));
    for (let at = 0; at < expiries.length; at += streamsPerDeletion) {
      const some = expiries.slice(at, at + streamsPerDeletion);
      const [row] = await connection.query<[string]>(
        'housekeeping',
        compileCountExpired(table, some),
      );
      if (Number(row?.[0]) === 0) continue;
      await connection.execute('housekeeping', compileDeleteExpired(table, some));
      events.rowsExpired(Number(row?.[0]));
    }
  }

  async function dropDaysOverCap() {
    if (options.maxDiskBytes === undefined) return;
    const onDisk = await days();
    let bytes = onDisk.reduce((sum, day) => sum + Number(day[2]), 0);
    for (const day of onDisk.slice(0, -1)) {
      if (bytes <= options.maxDiskBytes) return;
      await dropDay(day, 'disk_cap');
      bytes -= Number(day[2]);
    }
  }

  async function attempt(task: string, run: () => Promise<void>) {
    try {
      await run();
    } catch (error) {
      events.housekeepingFailed(task, error as Error);
    }
  }

  return {
    dropExpiredDays,
    deleteExpiredRows,
    dropDaysOverCap,
    indexMessages: indexes.build,
    async runRound() {
      await attempt('drop_expired_days', dropExpiredDays);
      await attempt('drop_days_over_cap', dropDaysOverCap);
      if (now() - deletedAtMs >= options.deleteEveryMs) {
        deletedAtMs = now();
        await attempt('delete_expired_rows', deleteExpiredRows);
      }
      await attempt('index_messages', () => indexes.buildWhenQuiet(options.quietRowsPerSecond));
    },
  };
}

/** A statement stays short however many streams there are. */
const streamsPerDeletion = 200;

function toExpiry(stream: Stream, nowMs: number): Expiry {
  const { accountId, streamId, retentionDays } = stream;
  const receivedFromNanos = BigInt(nowMs - retentionDays * msPerDay) * 1_000_000n;
  return { accountId, streamId, receivedFromNanos };
}
