/**
 * Answers reads of recent samples from memory, as Prometheus does from its head block. Only for a
 * store into which this process alone inserts. A read that it cannot answer goes to the store.
 */
import { toDay } from '../../codec/metric-rows.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { SamplesPlan, SeriesColumns } from '../../model/metric-plan.ts';
import { tooMany } from '../failures.ts';
import { type LoadParts, loadSamples } from './load.ts';
import type { IndexedSeries } from './series-index.ts';
import type { StreamHead } from './stream-head.ts';
import { type HeadOptions, StreamHeads } from './stream-heads.ts';

export interface Head {
  /** @returns undefined where the store must be read. @throws AppError over the plan's limits */
  read(plan: SamplesPlan, signal?: AbortSignal): Promise<SeriesColumns[] | undefined>;
  /** To be called with batches of metrics once the store has acknowledged them. */
  inserted(batches: readonly StampedBatch[]): void;
  forget(accountId: string, streamId: string): void;
}

/** A read that ends earlier than this long ago would load more than it needs. */
const maxBehindMs = 60 * 60_000;
const dayMs = 86_400_000;
const nanosPerMilli = 1_000_000n;
const farMs = 1n << 52n;

export function createHead(parts: LoadParts, options: HeadOptions): Head {
  const heads = new StreamHeads(parts, options);
  let reads = 0;
  return {
    async read(plan, signal) {
      const nowMs = options.now();
      if (!isRecent(plan, nowMs)) return undefined;
      const found = await find(heads, plan);
      if (found === undefined) return undefined;
      const load = (series: readonly IndexedSeries[], fromMs: number) =>
        loadSamples(parts, { ...plan, fromMs: BigInt(fromMs), untilMs: farMs }, series, signal);
      if (!(await loadMissing(found, { fromMs: Number(plan.fromMs), nowMs, load }))) {
        return undefined;
      }
      reads += 1;
      const columns = toColumns(plan, [...found.values()].flat(), reads);
      heads.makeRoom();
      return columns;
    },
    inserted: (batches) => heads.inserted(batches),
    forget: (accountId, streamId) => heads.forget(accountId, streamId),
  };
}

/** Whether it ends recently, and begins when retention hides nothing. */
function isRecent({ streams, fromMs, untilMs }: SamplesPlan, nowMs: number): boolean {
  if (Number(fromMs) < firstMs(nowMs)) return false;
  if (nowMs - Number(untilMs) > maxBehindMs) return false;
  return streams.every(({ receivedFromNanos, deletedUntilNanos }) => {
    const isOfDeletion = deletedUntilNanos !== undefined && receivedFromNanos > deletedUntilNanos;
    return isOfDeletion || fromMs >= receivedFromNanos / nanosPerMilli;
  });
}

/** Start of the day before. */
function firstMs(nowMs: number): number {
  return (toDay(nowMs) - 1) * dayMs;
}

type Found = ReadonlyMap<StreamHead, readonly IndexedSeries[]>;

/** The series of a plan by stream; undefined if the store must be read. */
async function find(heads: StreamHeads, plan: SamplesPlan): Promise<Found | undefined> {
  const [fromDay, untilDay] = [toDay(Number(plan.fromMs)), toDay(Number(plan.untilMs))];
  const found = new Map<StreamHead, readonly IndexedSeries[]>();
  let [count, withSeries] = [0, 0];
  for (const stream of plan.streams) {
    const head = await heads.of(plan.accountId, stream);
    if (head === undefined || fromDay < head.fromDay) return undefined;
    const series = head.index.find(plan.selectors, fromDay, untilDay);
    if (series.some(({ hasHistograms }) => hasHistograms)) return undefined;
    if (series.length > 0) withSeries += 1;
    count += series.length;
    found.set(head, series);
  }
  // A series in several streams has the samples of all of them.
  if (withSeries > 1) return undefined;
  if (count > plan.maxSeries) throw tooMany(plan.maxSeries, 'series', 'maxReadSeries');
  return found;
}

interface Missing {
  readonly fromMs: number;
  readonly nowMs: number;
  readonly load: (
    series: readonly IndexedSeries[],
    fromMs: number,
  ) => ReturnType<typeof loadSamples>;
}

/** @returns false if the store must be read */
async function loadMissing(found: Found, { fromMs, nowMs, load }: Missing): Promise<boolean> {
  const isMissing = ({ columns }: IndexedSeries) => (columns?.fromMs ?? Infinity) > fromMs;
  // A quarter more, so that a slightly longer read need not load again.
  const spareMs = Math.ceil(Math.max(0, nowMs - fromMs) / 4);
  const loadedFromMs = Math.max(fromMs - spareMs, firstMs(nowMs));
  for (const [head, series] of found) {
    const missing = series.filter(isMissing);
    if (missing.length === 0) continue;
    const isKept = await head.readInto(
      () => load(missing, loadedFromMs),
      (loaded = []) => head.keepSamples(loadedFromMs, loaded),
    );
    if (!isKept) return false;
  }
  // Too many to load, dropped meanwhile, or with samples out of order.
  return ![...found.values()].some((series) => series.some(isMissing));
}

/** @throws AppError over `plan.maxSamples` */
function toColumns(
  plan: SamplesPlan,
  series: readonly IndexedSeries[],
  read: number,
): SeriesColumns[] {
  const [fromMs, untilMs] = [Number(plan.fromMs), Number(plan.untilMs)];
  const found: SeriesColumns[] = [];
  let samples = 0;
  for (const { labels, columns } of series) {
    if (columns === undefined) continue;
    columns.usedAt = read;
    const { times, values } = columns.between(fromMs, untilMs);
    samples += times.length;
    if (samples > plan.maxSamples) throw tooMany(plan.maxSamples, 'samples', 'maxReadSamples');
    if (times.length > 0) found.push({ labels, times, values, histograms: [] });
  }
  return found;
}
