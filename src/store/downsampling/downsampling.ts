/** Thins out old metrics by the levels of their streams, a day of receipt at a time. */
import { hash } from 'node:crypto';
import type { Stream } from '../../model/account.ts';
import { downsamplingOf } from '../../model/downsampling.ts';
import { type DiskSpaceParts, msPerDay, toBatches } from '../disk-space.ts';
import {
  compileCountDownsampled,
  compileDownsample,
  type DownsampledCounts,
  type DownsampledDay,
  sampleTables,
} from './statements.ts';
import {
  compileCountMutations,
  compileDays,
  type DayRow,
  dayStartMs,
} from '../sql/housekeeping.ts';

/** Each takes about 50 bytes of memory while a statement runs. */
const maxRowsKeptByStatement = 2_000_000;

/** Bounds the counts of a round, for which retention and the disk cap wait. */
const searchMs = 5_000;

const firstRetryMs = 10_000;

interface Due extends DownsampledDay {
  /** Size of the day on disk in digits, from which a change is noticed. */
  readonly bytes: string;
}

interface Planned {
  readonly of: Due;
  readonly digest: string;
  /** Unix ms. */
  readonly dueAtMs: number;
  /** After a failure. */
  readonly backoffMs: number;
}

export function createDownsampling({ store, streams, now }: DiskSpaceParts) {
  const { connection, placement, events } = store;
  let planned: Planned[] = [];
  /** Digests of days that had nothing to delete. */
  const done = new Set<string>();

  async function isMutating(): Promise<boolean> {
    const count = compileCountMutations(placement, sampleTables);
    const [row] = await connection.query<[string]>('housekeeping', count);
    return Number(row?.[0]) > 0;
  }

  const isDue = ({ dueAtMs }: Planned) => dueAtMs <= now();

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
    /** Finds the days that may have something to delete. */
    async plan(): Promise<void> {
      const all = (await streams()).filter(({ downsampling }) => downsampling !== null);
      const earlier = new Map(planned.map((one) => [one.digest, one]));
      planned = [];
      if (all.length === 0) return;
      const days = await connection.query<DayRow>('housekeeping', compileDays(placement));
      const batches = toBatches(all);
      planned = days
        .flatMap((row) => batches.flatMap((some) => toDue(some, row, now())))
        .map((of) => {
          const digest = digestOf(of);
          return earlier.get(digest) ?? { of, digest, dueAtMs: 0, backoffMs: firstRetryMs };
        })
        .filter(({ digest }) => !done.has(digest));
    },
    /**
     * Rewrites the next of them that has, if it is found within seconds. A day that fails is
     * retried with backoff, up to a day.
     * @param closing no statement begins after it fires
     */
    async rewriteNextDay(closing: AbortSignal): Promise<void> {
      if (!planned.some(isDue) || (await isMutating())) return;
      const untilMs = now() + searchMs;
      while (!closing.aborted && now() < untilMs) {
        const next = planned.find(isDue);
        if (next === undefined) return;
        planned.splice(planned.indexOf(next), 1);
        const { of, digest, backoffMs } = next;
        try {
          if (await rewrite(of, closing)) return;
        } catch (error) {
          const dueAtMs = now() + backoffMs;
          planned.push({ ...next, dueAtMs, backoffMs: Math.min(backoffMs * 2, msPerDay) });
          throw error;
        }
        done.add(digest);
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
