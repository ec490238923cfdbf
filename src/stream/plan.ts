/**
 * From a request and what the account may read to a plan: whose streams, what is still kept of
 * each, which range. Pure; it knows neither SQL nor the wire.
 */
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import {
  equalityFields,
  type FacetsPlan,
  type HistogramPlan,
  type ListPlan,
  type LogFilter,
  type ReadableStream,
} from '../model/plan.ts';
import { toPosition } from './cursor.ts';
import {
  type FacetName,
  facetFieldsByName,
  type FilterQuery,
  type HistogramQuery,
  type ListQuery,
} from './requests.ts';
import { parseSearch } from './search-terms.ts';

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

/** @throws AppError `not_found`, `malformed` */
export function planList(context: ReadContext, query: ListQuery, watermarkNanos: bigint): ListPlan {
  if (query.cursor !== undefined && query.since !== undefined) {
    throw new AppError('malformed', 'cannot take cursor and since at once: choose a direction', {
      parameter: 'since',
    });
  }
  const newer = query.since !== undefined;
  const position = query.since ?? query.cursor;
  return {
    filter: toFilter(context, query),
    limit: query.limit,
    direction: newer ? 'newer' : 'older',
    position: position && toPosition(position),
    untilWatermarkNanos: newer ? watermarkNanos : undefined,
  };
}

/**
 * Buckets have edges at whole milliseconds; the filter keeps the exact range, so that it counts
 * what a list shows.
 */
export function planHistogram(context: ReadContext, query: HistogramQuery): HistogramPlan {
  const { startTime, endTime } = query;
  if (endTime <= startTime) {
    throw new AppError('malformed', 'cannot count backwards: endTime must be after startTime', {
      parameter: 'endTime',
    });
  }
  return {
    filter: toFilter(context, { ...query, sinceTime: startTime, untilTime: endTime }),
    startMs: Number(startTime / nanosPerMilli),
    endMs: Number((endTime + nanosPerMilli - 1n) / nanosPerMilli),
    buckets: query.buckets,
    groupBy: query.groupBy,
  };
}

/** Two names of one field are counted once. */
export function planFacets(
  context: ReadContext,
  query: FilterQuery & { readonly topK: number },
  names: readonly FacetName[],
): FacetsPlan {
  const fields = new Set(names.map((name) => facetFieldsByName[name]));
  return { filter: toFilter(context, query), fields: [...fields], topK: query.topK };
}

function toFilter(context: ReadContext, query: FilterQuery): LogFilter {
  return {
    accountId: context.accountId,
    streams: toReadableStreams(context, query.streamId),
    fromNanos: query.sinceTime,
    untilNanos: query.untilTime,
    equal: new Map(
      equalityFields.flatMap((field) => {
        const values = query[field];
        return values === undefined ? [] : [[field, [...new Set(values)]] as const];
      }),
    ),
    labels: query.label ?? [],
    search: parseSearch(query.search ?? ''),
  };
}

function toReadableStreams(
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
    return { streamId, receivedFromNanos: receivedFromNanos(stream, context.nowMs) };
  });
}

/**
 * The first time of receipt that is still shown: after what retention and a deletion of the data
 * hide.
 */
export function receivedFromNanos(stream: Stream, nowMs: number): bigint {
  const keptFrom = BigInt(nowMs - stream.retentionDays * msPerDay) * nanosPerMilli;
  if (stream.dataDeletedUntil === null) return keptFrom;
  const deletedUntil = BigInt(Date.parse(stream.dataDeletedUntil)) * nanosPerMilli;
  return deletedUntil >= keptFrom ? deletedUntil + 1n : keptFrom;
}
