/**
 * From a request and the streams of its account to a plan: which streams, which series, which
 * range. Pure; it knows neither SQL nor the wire.
 */
import { AppError } from '../model/errors.ts';
import type { MetadataPlan, SamplesPlan, Selector, SeriesPlan } from '../model/metric-plan.ts';
import { type ReadContext, readableStreams } from '../model/readable-streams.ts';
import { selectorsIn } from '../promql/parser/ast.ts';
import { parsePromql, parseSelector } from './parse-promql.ts';
import type { ReadQuery } from './read-request.ts';
import type { ExemplarsQuery, MetadataQuery, SeriesQuery } from './requests.ts';

export interface MetricsLimits {
  /** Most series, label names, label values or metrics of one answer. */
  readonly maxReadSeries: number;
  /** Most samples of one remote read, over all of its queries. */
  readonly maxReadSamples: number;
  /** Most samples in memory for one PromQL query, read or computed. */
  readonly maxQuerySamples: number;
  /** Time limit of one PromQL query. */
  readonly queryTimeoutSeconds: number;
  /** Most exemplars of one answer. */
  readonly maxExemplars: number;
  /** Most series selectors of one request, or queries of a remote read. */
  readonly maxSelectors: number;
}

export const defaultLimits = { queryTimeoutSeconds: 30, maxExemplars: 100_000, maxSelectors: 100 };

/** Of all selectors together; the store rejects a statement with many more. */
const maxMatchers = 1000;
const defaultRangeMs = 86_400_000n;
const lowestMs = -(2n ** 63n);

/**
 * Reads one result beyond the limit, which shows that there are more; nothing where the range ends
 * before it starts, as Prometheus. @throws AppError
 */
export function planSeries(
  context: ReadContext,
  query: SeriesQuery,
  limits: MetricsLimits,
): SeriesPlan {
  const selectors = (query['match[]'] ?? []).map((text) => parseSelector(text, 'match[]'));
  checkSelectors(selectors, limits);
  const streams = readableStreams(context, query.streamId);
  const range = toRange(query, context.nowMs);
  return {
    accountId: context.accountId,
    streams: range.fromMs > range.untilMs ? [] : streams,
    selectors,
    ...range,
    limit: toLimit(query.limit, limits.maxReadSeries) + 1,
  };
}

/** Without the requested limit, since a metric may have several entries. */
export function planMetadata(
  context: ReadContext,
  query: MetadataQuery,
  limits: MetricsLimits,
): MetadataPlan {
  return {
    accountId: context.accountId,
    streams: readableStreams(context, query.streamId),
    metric: query.metric,
    limit: limits.maxReadSeries + 1,
  };
}

/** @returns undefined for an expression without selectors. @throws AppError */
export function planExemplars(
  context: ReadContext,
  query: ExemplarsQuery,
  limits: MetricsLimits,
): SamplesPlan | undefined {
  const selectors = selectorsIn(parsePromql(query.query)).map(({ matchers }) => matchers);
  checkSelectors(selectors, limits);
  if (selectors.length === 0) return undefined;
  const range = toRange(query, context.nowMs);
  if (range.fromMs > range.untilMs) {
    throw new AppError('malformed', 'cannot read backwards: end must not be before start', {
      parameter: 'end',
    });
  }
  return {
    accountId: context.accountId,
    streams: readableStreams(context, query.streamId),
    selectors,
    ...range,
    maxSeries: limits.maxReadSeries,
    maxSamples: limits.maxExemplars,
  };
}

/** @returns a plan for each query; undefined where its range is empty. @throws AppError */
export function planReads(
  context: ReadContext,
  queries: readonly ReadQuery[],
  limits: MetricsLimits,
): (SamplesPlan | undefined)[] {
  checkSelectors(
    queries.map(({ selector }) => selector),
    limits,
  );
  const streams = readableStreams(context, undefined);
  return queries.map(({ fromMs, untilMs, selector }) => {
    if (fromMs > untilMs) return undefined;
    return {
      accountId: context.accountId,
      streams,
      selectors: selector.length === 0 ? [] : [selector],
      fromMs,
      untilMs,
      maxSeries: limits.maxReadSeries,
      maxSamples: limits.maxReadSamples,
    };
  });
}

/** @param requested undefined or not positive = `most`. */
export function toLimit(requested: number | undefined, most: number): number {
  return requested === undefined || requested <= 0 ? most : Math.min(requested, most);
}

/** A day by default; all data, as with Prometheus, may be years here. */
function toRange(
  { start, end }: Pick<SeriesQuery, 'start' | 'end'>,
  nowMs: number,
): { fromMs: bigint; untilMs: bigint } {
  const untilMs = end ?? BigInt(nowMs);
  const dayBefore = untilMs < lowestMs + defaultRangeMs ? lowestMs : untilMs - defaultRangeMs;
  return { fromMs: start ?? dayBefore, untilMs };
}

function checkSelectors(selectors: readonly Selector[], { maxSelectors }: MetricsLimits): void {
  if (selectors.length > maxSelectors) {
    throw new AppError(
      'malformed',
      `cannot accept more than ${maxSelectors} series selectors at once: send several requests`,
    );
  }
  const matchers = selectors.reduce((sum, { length }) => sum + length, 0);
  if (matchers <= maxMatchers) return;
  throw new AppError(
    'malformed',
    `cannot accept more than ${maxMatchers} matchers at once: send several requests`,
  );
}
