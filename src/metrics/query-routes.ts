/**
 * PromQL queries: plans the reads, evaluates and answers as Prometheus does. Few are evaluated at
 * once, in turns between accounts.
 */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { jsonResponse, type ReadCaller, type ReadRequest } from '../model/read-route.ts';
import { type ReadContextSource, readableStreams, readContext } from '../model/readable-streams.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import { prettyExpr } from '../promql/parser/print.ts';
import { syntaxJson } from '../promql/parser/syntax-json.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
import { envelope, type MetricRoute, success } from './responses.ts';
import { evaluateQuery } from './evaluate-query.ts';
import { createPromqlParser, parsePromql } from './parse-promql.ts';
import type { MetricsLimits } from './plan.ts';
import { encodeQueryResponse, queryResponse } from './query-response.ts';
import {
  type QueryOptions as CommonQuery,
  expressionQuery,
  instantQuery,
  rangeQuery,
  withMetricQuery,
} from './requests.ts';

export interface QueryParts extends ReadContextSource {
  readonly store: Pick<Store, 'sampleColumns'>;
}

const concurrentQueries = 3;
const maxWaitingQueries = 200;

/** https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries */
const maxSteps = 11_000;

/** Every handler may throw AppError `malformed`, `execution`, `query_timeout`, `unavailable`. */
export function createQueryRoutes(
  parts: QueryParts,
  limits: MetricsLimits,
): readonly MetricRoute[] {
  const run = createRunner(parts, limits);
  return [
    {
      path: 'query',
      operationId: 'Query',
      summary: 'PromQL at one time',
      response: jsonResponse(queryResponse),
      ...withMetricQuery(instantQuery, (query, request: ReadRequest) => {
        const timeMs = Number(query.time ?? BigInt(parts.now()));
        const times = { startMs: timeMs, endMs: timeMs, stepMs: 0 };
        return run(withoutRollup(query), times, request);
      }),
    },
    {
      path: 'query_range',
      operationId: 'QueryRange',
      summary: 'PromQL over a range of times',
      response: jsonResponse(queryResponse),
      ...withMetricQuery(rangeQuery, (query, request: ReadRequest) =>
        run(query, rangeTimes(query), request),
      ),
    },
    {
      path: 'format_query',
      operationId: 'FormatQuery',
      summary: 'PromQL in a standard layout',
      response: jsonResponse(envelope(z.string())),
      ...withMetricQuery(expressionQuery, async ({ query }) =>
        success(prettyExpr(parsePromql(query))),
      ),
    },
    {
      path: 'parse_query',
      operationId: 'ParseQuery',
      summary: 'Syntax tree of PromQL',
      response: jsonResponse(envelope(z.record(z.string(), z.unknown()))),
      ...withMetricQuery(expressionQuery, async ({ query }) =>
        success(syntaxJson(parsePromql(query))),
      ),
    },
  ];
}

function createRunner(parts: QueryParts, limits: MetricsLimits) {
  const semaphore = createSemaphore({
    what: 'PromQL queries',
    places: concurrentQueries,
    maxWaiting: maxWaitingQueries,
    maxWaitMs: limits.queryTimeoutSeconds * 1000,
  });
  const parse = createPromqlParser();
  return async (query: CommonQuery, times: QueryTimes, caller: ReadCaller) => {
    const { accountId } = caller;
    const expr = parse(query.query);
    const startedAt = performance.now();
    const timeoutMs = Math.min(query.timeout ?? Infinity, limits.queryTimeoutSeconds * 1000);
    const deadline = startedAt + timeoutMs;
    const context = await readContext(parts, accountId);
    const streams = readableStreams(context, query.streamId);
    const release =
      semaphore.tryAcquire(accountId) ?? (await semaphore.acquire(accountId, caller.disconnected));
    try {
      if (performance.now() >= deadline) {
        throw new AppError('query_timeout', 'query timed out in query queue');
      }
      const { limit = 0, stats = '', lookback_delta: lookbackMs = 0 } = query;
      const asked = {
        text: query.query,
        expr,
        times,
        accountId,
        streams,
        deadline,
        // As in Prometheus, 0 stands for the default.
        lookbackMs: lookbackMs > 0 ? lookbackMs : undefined,
        caller,
        countsLooks: stats !== '',
      };
      const answer = await evaluateQuery(parts.store, asked, limits);
      const seconds = (performance.now() - startedAt) / 1000;
      return await encodeQueryResponse(answer, times, { limit, stats, seconds });
    } finally {
      release();
    }
  };
}

const rollup = /^default_rollup\((\w+\{.*\})\[(\d+)s\]\)$/s;

/**
 * vmalert restores its alerts by this function of MetricsQL: the last value within the range,
 * unless a stale marker follows, as that of a selector within its lookback.
 */
function withoutRollup(query: CommonQuery): CommonQuery {
  if (!query.query.startsWith('default_rollup')) return query;
  const [, selector, seconds] = rollup.exec(query.query) ?? [];
  if (selector === undefined) return query;
  return { ...query, query: selector, lookback_delta: Number(seconds) * 1000 };
}

function rangeTimes({ start, end, step: stepMs }: z.output<typeof rangeQuery>): QueryTimes {
  const [startMs, endMs] = [Number(start), Number(end)];
  if (endMs < startMs) {
    const message = 'invalid parameter "end": end timestamp must not be before start time';
    throw new AppError('malformed', message, { parameter: 'end' });
  }
  if (stepMs <= 0) {
    const message =
      'invalid parameter "step": zero or negative query resolution step widths are not accepted. ' +
      'Try a positive integer';
    throw new AppError('malformed', message, { parameter: 'step' });
  }
  if (Math.floor((endMs - startMs) / stepMs) > maxSteps) {
    const message =
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query ' +
      'resolution (?step=XX)';
    throw new AppError('malformed', message, { parameter: 'step' });
  }
  return { startMs, endMs, stepMs };
}
