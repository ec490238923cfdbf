/**
 * Background work on the store: drops expired days, deletes rows of streams with a shorter
 * retention, drops the oldest day at the disk cap, builds the search index that inserts leave out,
 * and looks for damaged data. Reads never depend on it: they apply retention themselves.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { createDamageWatch } from './damage-watch.ts';
import { createDiskSpace, type DiskSpace, type DiskSpaceParts } from './disk-space.ts';
import { createScrub } from './scrub.ts';
import { createSearchIndexes } from './search-indexes.ts';

export interface HousekeepingOptions {
  /** The oldest day is dropped when the tables take more; undefined = no cap. */
  readonly maxDiskBytes: number | undefined;
  /** Between two rounds. */
  readonly everyMs: number;
  /** Between two deletions of the rows of shorter streams; each rewrites the days it touches. */
  readonly deleteEveryMs: number;
  /**
   * Search indexes are built and parts are checked only while fewer rows than this arrive, averaged
   * over a round.
   */
  readonly quietRowsPerSecond: number;
  /** Between two checks of the checksums of a part; 0 = never. */
  readonly scrubEveryMs: number;
}

export const housekeepingDefaults: HousekeepingOptions = {
  maxDiskBytes: undefined,
  everyMs: 10_000,
  deleteEveryMs: 86_400_000,
  quietRowsPerSecond: 20_000,
  scrubEveryMs: 7 * 86_400_000,
};

export interface HousekeepingParts extends DiskSpaceParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'insertedRows'>;
}

export interface Housekeeping extends Omit<DiskSpace, 'dropDaysOverCap'> {
  /** Drops the oldest days, but never the newest, until all fits under the cap. */
  dropDaysOverCap(): Promise<void>;
  /** Builds the search index of what was inserted or merged since. */
  indexMessages(): Promise<void>;
  /** Reports damaged parts; a failure is logged. */
  lookForDamage(closing: AbortSignal): Promise<void>;
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
  const damage = createDamageWatch(parts.store);
  const { quietRowsPerSecond, scrubEveryMs } = options;
  const scrub = createScrub(parts, { quietRowsPerSecond, everyMs: scrubEveryMs });
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

  const lookForDamage = (closing: AbortSignal) =>
    attempt('look_for_damage', () => damage.look(), closing);

  return {
    dropExpiredDays,
    deleteExpiredRows,
    dropDaysOverCap,
    indexMessages: indexes.build,
    lookForDamage,
    async runRound(closing) {
      await attempt('drop_expired_days', dropExpiredDays, closing);
      await attempt('drop_days_over_cap', dropDaysOverCap, closing);
      if (now() - deletedAtMs >= options.deleteEveryMs) {
        deletedAtMs = now();
        await attempt('delete_expired_rows', deleteExpiredRows, closing);
      }
      await lookForDamage(closing);
      // Before parts are rewritten, which would give damaged data checksums that match.
      await attempt('scrub_parts', () => scrub.run(), closing);
      const index = () => indexes.buildWhenQuiet(quietRowsPerSecond);
      await attempt('index_messages', index, closing);
    },
  };
}
