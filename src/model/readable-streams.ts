/** The streams that a read of logs or metrics may see, and what retention leaves of each. */
import type { Stream } from './account.ts';
import { downsamplingOf } from './downsampling.ts';
import { AppError } from './errors.ts';
import type { ReadableStream } from './plan.ts';

/** The account that reads, its streams, and the time from which retention counts. */
export interface ReadContext {
  readonly accountId: string;
  readonly streams: readonly Stream[];
  /** Unix ms. */
  readonly nowMs: number;
}

export interface ReadContextSource {
  readonly grants: { streams(accountId: string): Promise<readonly Stream[]> };
  /** Unix ms. */
  readonly now: () => number;
}

export async function readContext(
  { grants, now }: ReadContextSource,
  accountId: string,
): Promise<ReadContext> {
  return { accountId, streams: await grants.streams(accountId), nowMs: now() };
}

const msPerDay = 86_400_000;
const nanosPerMilli = 1_000_000n;

/**
 * @param wanted stream ids; undefined = all streams of the account.
 * @throws AppError `not_found`
 */
export function readableStreams(
  context: ReadContext,
  wanted: readonly string[] | undefined,
): ReadableStream[] {
  if (wanted === undefined) {
    return context.streams.map((stream) => toReadableStream(stream, context.nowMs));
  }
  const streamsById = new Map(context.streams.map((stream) => [stream.streamId, stream]));
  return [...new Set(wanted)].map((streamId) => {
    const stream = streamsById.get(streamId);
    if (stream === undefined) {
      throw new AppError('not_found', `cannot find stream ${streamId} in this account`, {
        parameter: 'streamId',
      });
    }
    return toReadableStream(stream, context.nowMs);
  });
}

export function toReadableStream(stream: Stream, nowMs: number): ReadableStream {
  const { streamId } = stream;
  const keptFrom = BigInt(nowMs - stream.retentionDays * msPerDay) * nanosPerMilli;
  const levels = downsamplingOf(stream.downsampling);
  const downsampled = levels.map(({ afterDays, intervalMs }) => ({
    beforeMs: nowMs - afterDays * msPerDay,
    intervalMs,
  }));
  const named = { streamId, ...(levels.length > 0 && { downsampled }) };
  if (stream.dataDeletedUntil === null) return { ...named, receivedFromNanos: keptFrom };
  const deletedUntilNanos = BigInt(Date.parse(stream.dataDeletedUntil)) * nanosPerMilli;
  const receivedFromNanos = deletedUntilNanos >= keptFrom ? deletedUntilNanos + 1n : keptFrom;
  return { ...named, receivedFromNanos, deletedUntilNanos };
}
