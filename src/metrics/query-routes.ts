/**
 * PromQL queries: plans the reads, evaluates and answers as Prometheus does. Few are evaluated at
 * once, in turns between accounts.
 */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import {
  jsonResponse,
  type ReadCaller,
  type ReadRequest,
  type ReadRoute,
} from '../model/read-route.ts';
import { readContext, readableStreams, type ReadContextSource } from '../model/readable-streams.ts';
import { QueryError } from '../promql/errors.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import type { Expr } from '../promql/parser/ast.ts';
import { parseQuery } from '../promql/parser/parser.ts';
import { prettyExpr } from '../promql/parser/print.ts';
import { syntaxJson } from '../promql/parser/syntax-json.ts';
import { runQuery } from '../promql/query.ts';
import { withQuery } from '../std/parse-query.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
import { success } from './answers.ts';
import type { MetricsLimits } from './plan.ts';
import { queryResponse, encodeQueryAnswer } from './query-answers.ts';
import {
  expressionQuery,
  instantQuery,
  type QueryOptions as CommonQuery,
  rangeQuery,
} from './requests.ts';
import { createSampleSource } from './sample-source.ts';

export interface QueryParts extends ReadContextSource {
  readonly store: Pick<Store, 'samples'>;
}

/** `path` is below Prometheus' API. */
type QueryRoute = Pick<
  ReadRoute,
  'path' | 'operationId' | 'summary' | 'query' | 'response' | 'read'
>;

const concurrentQueries = 3;
const maxWaitingQueries = 200;

/** https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries */
const maxSteps = 11_000;
const defaultLookbackMs = 300_000;
const subqueryStepMs = 60_000;

/** Every handler may throw AppError `malformed`, `execution`, `query_timeout`, `unavailable`. */
export function createQueryRoutes(parts: QueryParts, limits: MetricsLimits): readonly QueryRoute[] {
  const run = createRunner(parts, limits);
  return [
    {
      path: 'query',
      operationId: 'Query',
      summary: 'PromQL at one time',
      response: jsonResponse(queryResponse),
      ...withQuery(instantQuery, (query, request: ReadRequest) => {
        const timeMs = Number(query.time ?? BigInt(parts.now()));
        return run(query, { startMs: timeMs, endMs: timeMs, stepMs: 0 }, request);
      }),
    },
    {
      path: 'query_range',
      operationId: 'QueryRange',
      summary: 'PromQL over a range of times',
      response: jsonResponse(queryResponse),
      ...withQuery(rangeQuery, (query, request: ReadRequest) =>
        run(query, rangeTimes(query), request),
      ),
    },
    {
      path: 'format_query',
      operationId: 'FormatQuery',
      summary: 'PromQL in a standard layout',
      response: jsonResponse(z.object({ status: z.literal('success'), data: z.string() })),
      ...withQuery(expressionQuery, async ({ query }) => success(prettyExpr(parse(query)))),
    },
    {
      path: 'parse_query',
      operationId: 'ParseQuery',
      summary: 'Syntax tree of PromQL',
      response: jsonResponse(
        z.object({ status: z.literal('success'), data: z.record(z.string(), z.unknown()) }),
      ),
      ...withQuery(expressionQuery, async ({ query }) => success(syntaxJson(parse(query)))),
    },
  ];
}

function createRunner(parts: QueryParts, limits: MetricsLimits) {
  const semaphore = createSemaphore({
    what: 'PromQL queries',
    places: concurrentQueries,
    maxWaiting: maxWaitingQueries,
  });
  return async (query: CommonQuery, times: QueryTimes, caller: ReadCaller) => {
    const { accountId, disconnected } = caller;
    const expr = parse(query.query);
    const startedAt = performance.now();
    const timeoutMs = Math.min(query.timeout ?? Infinity, limits.queryTimeoutSeconds * 1000);
    const context = await readContext(parts, accountId);
    const scope = {
      accountId,
      streams: readableStreams(context, query.streamId),
      maxSeries: limits.maxReadSeries,
      maxSamples: limits.maxReadSamples,
    };
    const release = await semaphore.acquire(accountId, disconnected);
    try {
      const source = createSampleSource(parts.store, scope, disconnected);
      const answer = await runQuery({ text: query.query, expr, times }, source, {
        lookbackMs: query.lookback_delta ?? defaultLookbackMs,
        subqueryStepMs,
        maxSamples: limits.maxQuerySamples,
        delayedNameRemoval: false,
        deadline: startedAt + timeoutMs,
        signal: disconnected,
      });
      const seconds = (performance.now() - startedAt) / 1000;
      const { limit = 0, stats = '' } = query;
      return await encodeQueryAnswer(answer, times, { limit, stats, seconds });
    } catch (error) {
      throw error instanceof QueryError ? toAppError(error) : error;
    } finally {
      release();
    }
  };
}

function parse(text: string): Expr {
  try {
    return parseQuery(text);
  } catch (error) {
    throw error instanceof QueryError ? toAppError(error) : error;
  }
}

function toAppError(error: QueryError): AppError {
  const options = { cause: error };
  switch (error.failure) {
    case 'bad_data': {
      const message = `invalid parameter "query": ${error.message}`;
      return new AppError('malformed', message, { ...options, parameter: 'query' });
    }
    case 'execution':
      return new AppError('execution', error.message, options);
    case 'timeout':
    case 'canceled':
      return new AppError('query_timeout', error.message, options);
  }
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
