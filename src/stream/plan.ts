/**
 * From a request and what the account may read to a plan: whose streams, what is still kept of
 * each, which range. Pure; it knows neither SQL nor the wire.
 */
import { AppError } from '../model/errors.ts';
import {
  equalityFields,
  facetFields,
  type FacetName,
  type FilterField,
} from '../model/log-fields.ts';
import type { FacetsPlan, HistogramPlan, ListPlan, LogFilter } from '../model/plan.ts';
import { type ReadContext, readableStreams } from '../model/readable-streams.ts';
import { toPosition } from './cursor.ts';
import type { FilterQuery, HistogramQuery, ListQuery } from './requests.ts';
import { parseSearch } from './search-terms.ts';

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
  const fields = new Set(names.map((name) => facetFields.get(name)!));
  return { filter: toFilter(context, query), fields: [...fields], topK: query.topK };
}

/** @throws AppError `not_found` */
export function toFilter(context: ReadContext, query: FilterQuery): LogFilter {
  const excludedBy = (field: FilterField) =>
    (query.exclude ?? []).filter((one) => one.field === field).map(({ value }) => value);
  const excludedStreams = excludedBy('streamId').map((id) => id.toLowerCase());
  return {
    accountId: context.accountId,
    streams: readableStreams(context, query.streamId).filter(
      ({ streamId }) => !excludedStreams.includes(streamId),
    ),
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
    excluded: {
      equal: new Map(
        equalityFields.flatMap((field) => {
          const values = excludedBy(field);
          return values.length === 0 ? [] : [[field, [...new Set(values)]] as const];
        }),
      ),
      labels: query.excludeLabel ?? [],
    },
  };
}
