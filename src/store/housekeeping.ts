/**
 * Background work on the store: retention, the disk cap, downsampling, search indexes, and the
 * search for damaged data. Reads do not depend on it: they apply retention themselves.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseStore } from './clickhouse.ts';
import { createDamageWatch, createScrub } from './damage.ts';
import { createDiskSpace, type DiskSpaceParts } from './disk-space.ts';
import { createDownsampling } from './downsampling/downsampling.ts';
import { createSearchIndexes } from './search-indexes.ts';

export interface HousekeepingOptions {
  /** The oldest day is dropped when the tables take more; undefined = no cap. */
  readonly maxDiskBytes: number | undefined;
  /** Between two rounds. */
  readonly everyMs: number;
  /** Between two deletions of single rows; each rewrites the days it touches. */
  readonly deleteEveryMs: number;
  /** The store is busy while more rows arrive, averaged over a round. */
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
  readonly store: DiskSpaceParts['store'] & Pick<ClickHouseStore, 'insertedRows'>;
}

export type Housekeeping = ReturnType<typeof createHousekeeping>;

export function createHousekeeping(parts: HousekeepingParts, options: HousekeepingOptions) {
  const { store, now } = parts;
  const { dropExpiredDays, deleteExpiredRows, ...diskSpace } = createDiskSpace(parts);
  const downsampling = createDownsampling(parts);
  const indexes = createSearchIndexes(store);
  const damage = createDamageWatch(store);
  const scrub = createScrub(store, options.scrubEveryMs, now);
  let lastRound = { rows: store.insertedRows(), atMs: now() };

  async function dropDaysOverCap() {
    if (options.maxDiskBytes !== undefined) await diskSpace.dropDaysOverCap(options.maxDiskBytes);
  }

  /** @returns whether it succeeded */
  async function attempt(task: string, run: () => Promise<void>, closing: AbortSignal) {
    if (closing.aborted) return false;
    try {
      await run();
      return true;
    } catch (error) {
      if (!closing.aborted) store.events.housekeepingFailed(task, error as Error);
      return false;
    }
  }

  /** Each rewrites or counts whole days, so that failures wait with backoff. */
  function daily(task: string, run: () => Promise<void>) {
    let dueAtMs = Number.NEGATIVE_INFINITY;
    let backoffMs = options.everyMs;
    return async (closing: AbortSignal) => {
      const waitMs = dueAtMs - now();
      // A longer wait means that the clock was set back.
      if (waitMs > 0 && waitMs <= options.deleteEveryMs) return;
      const succeeded = await attempt(task, run, closing);
      dueAtMs = now() + (succeeded ? options.deleteEveryMs : backoffMs);
      backoffMs = succeeded ? options.everyMs : Math.min(backoffMs * 2, options.deleteEveryMs);
    };
  }
  const deleteDaily = daily('delete_expired_rows', deleteExpiredRows);
  const planDaily = daily('plan_downsampling', downsampling.plan);

  /** Reports damaged parts; a failure is logged. */
  async function checkForDamage(closing: AbortSignal) {
    await attempt('check_for_damage', () => damage.check(), closing);
  }

  /** Rows inserted per second since the last round. */
  function takeInsertRate(): number {
    const round = { rows: store.insertedRows(), atMs: now() };
    const seconds = Math.max(round.atMs - lastRound.atMs, 1) / 1000;
    const rate = (round.rows - lastRound.rows) / seconds;
    lastRound = round;
    return rate;
  }

  return {
    dropExpiredDays,
    deleteExpiredRows,
    dropDaysOverCap,
    indexMessages: indexes.build,
    checkForDamage,
    /**
     * Runs every task that is due. A task that fails is logged and retried: in the next round, the
     * daily ones after a wait that doubles from round to round up to a day.
     * @param closing no task begins after it fires, and a failure is not logged any more
     */
    async runRound(closing: AbortSignal): Promise<void> {
      const rate = takeInsertRate();
      const isBusy = rate > options.quietRowsPerSecond;
      await attempt('drop_expired_days', dropExpiredDays, closing);
      await attempt('drop_days_over_cap', dropDaysOverCap, closing);
      await deleteDaily(closing);
      await planDaily(closing);
      await attempt('downsample', () => downsampling.rewriteNextDay(closing), closing);
      await checkForDamage(closing);
      // Before parts are rewritten, which would give damaged data valid checksums.
      await attempt('scrub_parts', () => scrub.run(isBusy), closing);
      await attempt('index_messages', () => indexes.buildWhenQuiet(rate, isBusy), closing);
    },
  };
}

/** For the task in progress; the next round repeats what it leaves unfinished. */
const closeMs = 2_000;

export interface HousekeepingTimer {
  /** Begins no further task, and waits for the one in progress up to 2 s. */
  close(): Promise<void>;
}

/** Reports damage at once; the first round follows after the first interval. */
export function openHousekeepingTimer(
  housekeeping: Pick<Housekeeping, 'runRound' | 'checkForDamage'>,
  everyMs: number,
): HousekeepingTimer {
  const closing = new AbortController();
  const { signal } = closing;
  const pause = () => delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);

  async function run() {
    await housekeeping.checkForDamage(signal);
    await pause();
    while (!signal.aborted) {
      await housekeeping.runRound(signal);
      await pause();
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await Promise.race([running, delay(closeMs, undefined, { ref: false })]);
    },
  };
}
