/**
 * Which streams a read may look at, and what is still kept of each: the same for logs and metrics.
 */
import type { Stream } from './account.ts';
import { AppError } from './errors.ts';
import type { ReadableStream } from './plan.ts';

/** Who asks, and when. */
export interface ReadContext {
  readonly accountId: string;
  /** The account's own; a stream that is not among them does not exist for it. */
  readonly streams: readonly Stream[];
  /** Unix ms; what is older than a stream's retention at this time is hidden. */
  readonly nowMs: number;
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
  const streamsById = new Map(context.streams.map((stream) => [stream.streamId, stream]));
  const ids = new Set(wanted ?? streamsById.keys());
  return [...ids].map((streamId) => {
    const stream = streamsById.get(streamId);
    if (stream === undefined) {
      throw new AppError('not_found', `cannot find stream ${streamId} in this account`, {
        parameter: 'streamId',
      });
    }
    return toReadableStream(stream, context.nowMs);
  });
}

/** What retention and a deletion of the data leave of a stream. */
function toReadableStream({ streamId, ...stream }: Stream, nowMs: number): ReadableStream {
  const keptFrom = BigInt(nowMs - stream.retentionDays * msPerDay) * nanosPerMilli;
  if (stream.dataDeletedUntil === null) return { streamId, receivedFromNanos: keptFrom };
  const deletedUntilNanos = BigInt(Date.parse(stream.dataDeletedUntil)) * nanosPerMilli;
  const receivedFromNanos = deletedUntilNanos >= keptFrom ? deletedUntilNanos + 1n : keptFrom;
  return { streamId, receivedFromNanos, deletedUntilNanos };
}
