/**
 * Reads the last hours of all series of a stream once it is queried, some series at a time, so that
 * the next query of any of them needs no statement.
 */
import type { ReadableStream } from '../../model/plan.ts';
import { type LoadParts, loadSamples } from './load.ts';
import type { IndexedSeries } from './series-index.ts';
import type { StreamHead } from './stream-head.ts';

export interface WarmUp {
  readonly accountId: string;
  readonly stream: ReadableStream;
  readonly head: StreamHead;
  /** Unix ms. */
  readonly nowMs: number;
  /** Most samples that it may load. */
  readonly maxSamples: number;
}

const longestMs = 3 * 60 * 60_000;
/** Shorter ones answer too few queries. */
const shortestMs = 10 * 60_000;
/** Decoding so many takes few milliseconds, for which other requests wait. */
const seriesPerStatement = 200;
const farMs = 1n << 52n;

export async function warmUp(
  parts: LoadParts,
  { accountId, stream, head, nowMs, maxSamples }: WarmUp,
): Promise<void> {
  const plan = { accountId, streams: [stream], selectors: [], untilMs: farMs };
  // Neighbours in the store.
  const series = [...head.index.all()].sort(byId);
  let left = maxSamples;
  let spanMs = longestMs;
  for (let at = 0; at < series.length; at += seriesPerStatement) {
    const some = series.slice(at, at + seriesPerStatement).filter(isUnread);
    const fromMs = nowMs - spanMs;
    const limits = { fromMs: BigInt(fromMs), maxSeries: some.length, maxSamples: left };
    let samples: number | undefined;
    const isKept = await head.readInto(
      () => loadSamples(parts, { ...plan, ...limits }, some, undefined),
      (loaded) => {
        samples = loaded?.reduce((sum, { times }) => sum + times.length, 0);
        return head.keepSamples(fromMs, loaded ?? []);
      },
    );
    if (!isKept || samples === undefined || head.isClosed) return;
    left -= samples;
    // As many samples are expected of each of the others.
    const expected = (samples / Math.max(1, some.length)) * (series.length - at - some.length);
    if (expected > left) spanMs = Math.floor(spanMs * (left / expected));
    if (spanMs < shortestMs) return;
  }
}

function isUnread({ columns, hasHistograms }: IndexedSeries): boolean {
  return columns === undefined && !hasHistograms;
}

function byId({ id: left }: IndexedSeries, { id: right }: IndexedSeries): number {
  for (let word = 3; word > 0; word--) {
    if (left[word] !== right[word]) return left[word]! - right[word]!;
  }
  return left[0]! - right[0]!;
}
