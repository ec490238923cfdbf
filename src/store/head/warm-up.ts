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
  /** Memory that it may still fill, in samples of 16 bytes. */
  readonly room: () => number;
}

/** Three hours, for which dashboards often ask, and what ranges need before. */
const longestMs = 4 * 60 * 60_000;
/** Shorter ones answer too few queries. */
const shortestMs = 10 * 60_000;
/** Decoding so many takes few milliseconds, for which other requests wait. */
const seriesPerStatement = 200;
const farMs = 1n << 52n;

export async function warmUp(
  parts: LoadParts,
  { accountId, stream, head, nowMs, room }: WarmUp,
): Promise<void> {
  const plan = { accountId, streams: [stream], selectors: [], untilMs: farMs };
  // Neighbours in the store.
  const series = [...head.index.all()].sort(byId);
  let spanMs = longestMs;
  for (let at = 0; at < series.length; at += seriesPerStatement) {
    const some = series.slice(at, at + seriesPerStatement).filter(isUnread);
    const fromMs = nowMs - spanMs;
    const before = room();
    if (before < some.length) return;
    // Twice as many fit if all of them share their times.
    const limits = {
      fromMs: BigInt(fromMs),
      maxSeries: some.length,
      maxSamples: Math.floor(2 * before),
    };
    let isWhole = false;
    const isKept = await head.readInto(
      () => loadSamples(parts, { ...plan, ...limits }, some, undefined),
      (loaded) => {
        isWhole = loaded !== undefined;
        return head.keepSamples(fromMs, loaded ?? []);
      },
    );
    if (!isKept || !isWhole || head.isClosed) return;
    const left = room();
    // Each of the others is expected to need as much.
    const each = (before - left) / Math.max(1, some.length);
    const expected = each * (series.length - at - some.length);
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
