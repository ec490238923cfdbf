/**
 * From a request and the streams of its account to a plan: which streams, which of their data is
 * kept, which range. Pure; it knows neither SQL nor the wire.
 */
import { RE2JS } from 're2js';
import { AppError } from '../model/errors.ts';
import { type EqualityField, equalityFields, type FilterField } from '../model/log-fields.ts';
import type { LogPosition } from '../model/log-id.ts';
import type {
  FacetsPlan,
  HistogramPlan,
  ListPlan,
  LogFilter,
  LogRecord,
  SearchTerm,
} from '../model/plan.ts';
import { type ReadContext, readableStreams } from '../model/readable-streams.ts';
import { parseLogQuery, type Query, QueryError } from '../query/parse.ts';
import { messageOf } from '../std/error-text.ts';
import { toPosition } from './cursor.ts';
import type { NamedField } from './parameters.ts';
import { withQuery } from './plan-query.ts';
import type { ContextQuery, FilterQuery, HistogramQuery, ListQuery, LogQuery } from './requests.ts';

const nanosPerMilli = 1_000_000n;

/** @throws AppError `not_found`, `malformed` */
export function planList(context: ReadContext, query: ListQuery, watermarkNanos: bigint): ListPlan {
  if (query.cursor !== undefined && query.since !== undefined) {
    throw new AppError('malformed', 'cannot accept cursor and since at once: choose a direction', {
      parameter: 'since',
    });
  }
  const isPoll = query.since !== undefined;
  const position = query.since ?? query.cursor;
  return {
    filter: toFilter(context, query),
    limit: query.limit,
    direction: isPoll || query.order === 'asc' ? 'newer' : 'older',
    position: position && toPosition(position),
    untilWatermarkNanos: isPoll ? watermarkNanos : undefined,
    paths: query.fields?.map(({ path }) => path),
  };
}

/** Finds the log at the position, or else an older one of the same nanosecond. */
export function planOneLog(
  context: ReadContext,
  { timeNanos, tie }: LogPosition,
  streamId: LogQuery['streamId'],
): ListPlan {
  const range = { sinceTime: timeNanos, untilTime: timeNanos + 1n };
  return {
    filter: toFilter(context, { ...range, streamId }),
    limit: 1,
    direction: 'older',
    position: { timeNanos, tie: tie + 1n },
    untilWatermarkNanos: undefined,
  };
}

/** Logs of the same stream strictly after and before a position. @throws AppError `not_found` */
export function planContext(
  context: ReadContext,
  { log, position }: { readonly log: LogRecord; readonly position: LogPosition },
  { before, after, same = [] }: ContextQuery,
): { readonly newer: ListPlan; readonly older: ListPlan } {
  const { streamId, host, serviceName, serviceNamespace } = log;
  const filter = toFilter(context, {
    streamId: [streamId],
    ...(same.includes('host') && { host: [host] }),
    ...(same.includes('service') && {
      serviceName: [serviceName],
      serviceNamespace: [serviceNamespace],
    }),
  });
  const around = { filter, position, untilWatermarkNanos: undefined };
  return {
    newer: { ...around, direction: 'newer', limit: after },
    older: { ...around, direction: 'older', limit: before },
  };
}

/**
 * Buckets have edges at whole milliseconds; the filter keeps the exact range.
 * @throws AppError `malformed`
 */
export function toBucketRange({
  startTime,
  endTime,
}: Pick<HistogramQuery, 'startTime' | 'endTime'>) {
  if (endTime <= startTime) {
    const message = 'cannot count over an empty range: endTime must be after startTime';
    throw new AppError('malformed', message, { parameter: 'endTime' });
  }
  return {
    startMs: Number(startTime / nanosPerMilli),
    endMs: Number((endTime + nanosPerMilli - 1n) / nanosPerMilli),
  };
}

export function planHistogram(context: ReadContext, query: HistogramQuery): HistogramPlan {
  const { startTime, endTime } = query;
  return {
    ...toBucketRange(query),
    filter: toFilter(context, { ...query, sinceTime: startTime, untilTime: endTime }),
    buckets: query.buckets,
    groupBy: query.groupBy?.field,
    topK: query.topK,
  };
}

/** A sample of logs, spread over the range. */
export function planSample(
  context: ReadContext,
  query: Omit<HistogramQuery, 'buckets' | 'groupBy' | 'topK'> & { readonly buckets?: number },
): HistogramPlan {
  return planHistogram(context, { buckets: 1, ...query, groupBy: undefined, topK: 1 });
}

/** Two names of one field are counted once. */
export function planFacets(
  context: ReadContext,
  query: FilterQuery & { readonly topK: number },
  named: readonly NamedField[],
): FacetsPlan {
  const fields = new Set(named.map(({ field }) => field));
  return { filter: toFilter(context, query), fields: [...fields], topK: query.topK };
}

/** @throws AppError `not_found` */
export function toFilter(context: ReadContext, query: FilterQuery): LogFilter {
  const excludedBy = (field: FilterField) =>
    (query.exclude ?? []).filter((one) => one.field === field).map(({ value }) => value);
  const excludedStreams = excludedBy('streamId').map((id) => id.toLowerCase());
  const filter: LogFilter = {
    accountId: context.accountId,
    streams: readableStreams(context, query.streamId).filter(
      ({ streamId }) => !excludedStreams.includes(streamId),
    ),
    fromNanos: query.sinceTime,
    untilNanos: query.untilTime,
    equal: equalities((field) => query[field]),
    labels: query.label ?? [],
    minSeverity: query.minSeverity,
    search: parseSearch(query.search ?? ''),
    excluded: { equal: equalities(excludedBy), labels: query.excludeLabel ?? [] },
  };
  const asked = query.query === undefined ? undefined : readQuery(query.query);
  return asked === undefined ? filter : withQuery(filter, asked, context.streams);
}

/** @throws AppError `malformed` with the position */
export function readQuery(text: string): Query | undefined {
  try {
    return parseLogQuery(text, { checkRegex });
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const message = `cannot read query at position ${error.position + 1}: ${error.message}`;
    throw new AppError('malformed', message, { parameter: 'query' });
  }
}

function checkRegex(regex: string): string | undefined {
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function equalities(
  valuesOf: (field: EqualityField) => readonly string[] | undefined,
): LogFilter['equal'] {
  return new Map(
    equalityFields.flatMap((field) => {
      const values = valuesOf(field) ?? [];
      return values.length === 0 ? [] : [[field, [...new Set(values)]] as const];
    }),
  );
}

const termPattern =
  /(-?)(?:"((?:[^"\\]|\\[^])*\\?)(?:"|$)|((?:[^\s"]|(?<=[^\s\p{L}\p{N}])"[^"]*"|")+))/uy;

/**
 * Words that must all occur, `"literal phrases"`, and `-` before what must not occur, separated by
 * white space. In a phrase `\"` is a quote and `\\` a backslash. A quote after punctuation inside a
 * word reaches to the next one, so that `open("a b")` is one word. Never fails: an unclosed quote
 * reaches to the end, and a lone `-` is a word. Empty phrases are skipped.
 */
export function parseSearch(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(text.slice(at))![0].length;
    if (at >= text.length) return terms;
    termPattern.lastIndex = at;
    const match = termPattern.exec(text)!;
    at = termPattern.lastIndex;
    const [, minus, phrase, word] = match;
    const term = phrase?.replace(/\\(["\\])/g, '$1') ?? word ?? '';
    if (term !== '') terms.push({ text: term, exclude: minus === '-' });
  }
}
