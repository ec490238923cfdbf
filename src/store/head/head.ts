/**
 * Answers reads of recent samples from memory, as Prometheus does from its head block. Only for a
 * store into which this process alone inserts. A read that it cannot answer goes to the store.
 */
import { toDay } from '../../codec/metric-rows.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { SamplesPlan, SeriesColumns } from '../../model/metric-plan.ts';
import type { ReadableStream } from '../../model/plan.ts';
import type { ReadCaller } from '../../model/read-route.ts';
import { tooMany } from '../failures.ts';
import { type LoadParts, loadSamples } from './load.ts';
import type { IndexedSeries } from './series-index.ts';
import type { StreamHead } from './stream-head.ts';
import { type HeadOptions, StreamHeads } from './stream-heads.ts';

type Caller = Pick<ReadCaller, 'disconnected'>;
/** Undefined where the store must be read. */
type Answer = SeriesColumns[] | undefined;

export type Head = ReturnType<typeof createHead>;

/** A read that ends earlier than this long ago would load more than it needs. */
const maxBehindMs = 60 * 60_000;
const dayMs = 86_400_000;
/** Of so few series a statement reads hours in the time of minutes. */
const fewSeries = 20;
const fewSeriesMs = 6 * 60 * 60_000;
const nanosPerMilli = 1_000_000n;
const farMs = 1n << 52n;

export function createHead(parts: LoadParts, options: HeadOptions) {
  const heads = new StreamHeads(parts, options);
  let reads = 0;

  function readLoaded(asked: Asked, caller: Caller | undefined): Answer | Promise<Answer> {
    const { plan, range } = asked;
    const found = find(heads, plan, range);
    if (found === undefined) return undefined;
    reads += 1;
    const columns = toColumns(plan, range, { series: found.series, read: reads });
    if (columns === undefined) return loadMissing(asked, found, caller);
    heads.makeRoom();
    return columns;
  }

  async function loadMissing(
    { plan, range, nowMs }: Asked,
    { head, stream, series }: Found,
    caller: Caller | undefined,
  ): Promise<Answer> {
    const missing = series.filter((one) => isMissing(one, range.fromMs));
    const fromMs = loadedFromMs(range.fromMs, nowMs, missing.length);
    const loaded = { ...plan, fromMs: BigInt(fromMs), untilMs: farMs, streams: [stream] };
    const isKept = await head.readInto(
      () => loadSamples(parts, loaded, missing, caller?.disconnected),
      (samples = []) => head.keepSamples(fromMs, samples),
    );
    if (!isKept) return undefined;
    // Nothing may be awaited from here on, since other reads and inserts drop samples.
    const columns = toColumns(plan, range, { series, read: reads });
    heads.makeRoom();
    return columns;
  }

  return {
    /** @returns samples in memory at once. @throws AppError over the plan's limits */
    read(plan: SamplesPlan, caller?: Caller): Answer | Promise<Answer> {
      const nowMs = options.now();
      const range = { fromMs: Number(plan.fromMs), untilMs: Number(plan.untilMs) };
      if (!isRecent(plan, range, nowMs)) return undefined;
      const asked = { plan, range, nowMs };
      const loading = heads.loading(plan.accountId, plan.streams);
      if (loading === undefined) return readLoaded(asked, caller);
      return loading.then(() => readLoaded(asked, caller));
    },
    /** To be called with batches of metrics once the store has acknowledged them. */
    inserted: (batches: readonly StampedBatch[]) => heads.inserted(batches),
    forget: (accountId: string, streamId: string) => heads.forget(accountId, streamId),
    forgetAll: () => heads.forgetAll(),
  };
}

/** Of a plan, as numbers. */
interface Range {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Asked {
  readonly plan: SamplesPlan;
  readonly range: Range;
  readonly nowMs: number;
}

/** Whether it ends recently, and begins when retention hides nothing. */
function isRecent({ streams, fromMs }: SamplesPlan, range: Range, nowMs: number): boolean {
  if (range.fromMs < firstMs(nowMs)) return false;
  if (nowMs - range.untilMs > maxBehindMs) return false;
  return streams.every(({ receivedFromNanos, deletedUntilNanos }) => {
    // What a deletion hides was not loaded, and what retention hides since the load was.
    const isOfDeletion =
      deletedUntilNanos !== undefined && receivedFromNanos === deletedUntilNanos + 1n;
    return isOfDeletion || fromMs >= receivedFromNanos / nanosPerMilli;
  });
}

/** Start of the day before. */
function firstMs(nowMs: number): number {
  return (toDay(nowMs) - 1) * dayMs;
}

interface Found {
  readonly head: StreamHead;
  readonly stream: ReadableStream;
  readonly series: readonly IndexedSeries[];
}

/** The series of a plan, which are of one stream; undefined if the store must be read. */
function find(
  heads: StreamHeads,
  plan: SamplesPlan,
  { fromMs, untilMs }: Range,
): Found | undefined {
  const [fromDay, untilDay] = [toDay(fromMs), toDay(untilMs)];
  let found: Found | undefined;
  for (const stream of plan.streams) {
    const head = heads.of(plan.accountId, stream.streamId);
    // One that was closed meanwhile knows no series.
    if (head === undefined || head.isClosed || fromDay < head.fromDay) return undefined;
    const series = head.index.find(plan.selectors, fromDay, untilDay);
    if (series.some(({ hasHistograms }) => hasHistograms)) return undefined;
    if (found !== undefined && series.length === 0) continue;
    // A series in several streams has the samples of all of them.
    if (found !== undefined && found.series.length > 0) return undefined;
    found = { head, stream, series };
  }
  if (found !== undefined && found.series.length > plan.maxSeries) {
    throw tooMany(plan.maxSeries, 'series', 'maxReadSeries');
  }
  return found;
}

/** More than asked for, so that a longer read need not load again. */
function loadedFromMs(fromMs: number, nowMs: number, series: number): number {
  const spareMs = Math.ceil(Math.max(0, nowMs - fromMs) / 4);
  const isFew = series <= fewSeries;
  const earlyMs = Math.min(fromMs - spareMs, isFew ? nowMs - fewSeriesMs : fromMs);
  return Math.max(earlyMs, firstMs(nowMs));
}

function isMissing({ columns }: IndexedSeries, fromMs: number): boolean {
  return columns === undefined || columns.fromMs > fromMs;
}

const noHistograms: SeriesColumns['histograms'] = [];

/**
 * @returns undefined where samples of a series are missing: too many to load, dropped meanwhile, or
 * out of order. @throws AppError over `plan.maxSamples`
 */
function toColumns(
  { maxSamples }: SamplesPlan,
  { fromMs, untilMs }: Range,
  { series, read }: { series: readonly IndexedSeries[]; read: number },
): SeriesColumns[] | undefined {
  const found: SeriesColumns[] = [];
  let samples = 0;
  for (const { labels, columns } of series) {
    if (columns === undefined || columns.fromMs > fromMs) return undefined;
    columns.usedAt = read;
    const { times, values, from, to, hasStale, falls } = columns.between(fromMs, untilMs);
    samples += to - from;
    if (samples > maxSamples) throw tooMany(maxSamples, 'samples', 'maxReadSamples');
    if (from === to) continue;
    found.push({ labels, times, values, from, to, hasStale, falls, histograms: noHistograms });
  }
  return found;
}
