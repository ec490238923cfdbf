/**
 * What keeps the store's disk in bounds and its searches fast while nobody asks: drops days that
 * nobody keeps, deletes rows of streams that keep less, drops the oldest day at the disk cap, and
 * builds the search index that inserts leave out. Reads never depend on it: they apply retention
 * themselves.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { createDiskSpace, type DiskSpace, type DiskSpaceParts } from './disk-space.ts';
import { createSearchIndexes } from './search-indexes.ts';

export interface HousekeepingOptions {
  /** The oldest day is dropped when the tables take more; undefined = no cap. */
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

export interface HousekeepingParts extends DiskSpaceParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'insertedRows'>;
}

export interface Housekeeping extends Omit<DiskSpace, 'dropDaysOverCap'> {
  /** Drops the oldest days, but never the newest, until all fits under the cap. */
  dropDaysOverCap(): Promise<void>;
  /** Builds the search index of what was inserted or merged since. */
  indexMessages(): Promise<void>;
  /**
   * Runs all of it as the options say; a task that fails is logged and tried again.
   * @param closing begins no further task; one that fails after it was cut off, which is no fault
   */
  runRound(closing: AbortSignal): Promise<void>;
}

export function createHousekeeping(
  parts: HousekeepingParts,
  options: HousekeepingOptions,
): Housekeeping {
  const { now } = parts;
  const { events } = parts.store;
  const { dropExpiredDays, deleteExpiredRows, ...diskSpace } = createDiskSpace(parts);
  const indexes = createSearchIndexes(parts);
  let deletedAtMs = 0;

  async function dropDaysOverCap() {
    if (options.maxDiskBytes !== undefined) await diskSpace.dropDaysOverCap(options.maxDiskBytes);
  }

  async function attempt(task: string, run: () => Promise<void>, closing: AbortSignal) {
    if (closing.aborted) return;
    try {
      await run();
    } catch (error) {
      if (!closing.aborted) events.housekeepingFailed(task, error as Error);
    }
  }

  return {
    dropExpiredDays,
    deleteExpiredRows,
    dropDaysOverCap,
    indexMessages: indexes.build,
    async runRound(closing) {
      await attempt('drop_expired_days', dropExpiredDays, closing);
      await attempt('drop_days_over_cap', dropDaysOverCap, closing);
      if (now() - deletedAtMs >= options.deleteEveryMs) {
        deletedAtMs = now();
        await attempt('delete_expired_rows', deleteExpiredRows, closing);
      }
      const index = () => indexes.buildWhenQuiet(options.quietRowsPerSecond);
      await attempt('index_messages', index, closing);
    },
  };
}
