/**
 * Reads of one account's logs: each handler plans the read, queries the store and builds the
 * response, which is never missing logs. When the reader disconnects, the store stops the query.
 */
import { AppError } from '../model/errors.ts';
import { decodeLogId, type LogPosition } from '../model/log-id.ts';
import type { ListPlan } from '../model/plan.ts';
import {
  type ReadCaller,
  jsonResponse,
  type ReadRequest,
  type ReadRoute,
} from '../model/read-route.ts';
import {
  type ReadContext,
  readContext,
  type ReadContextSource,
} from '../model/readable-streams.ts';
import { withQuery } from '../std/parse-query.ts';
import type { Store } from '../store/port.ts';
import { toFacetResponses, toHistogramResponse, toListResponse, toOneLog } from './answers.ts';
import {
  fieldParams,
  fieldsQuery,
  fieldsResponse,
  fieldValuesQuery,
  fieldValuesResponse,
  planFields,
  planFieldValues,
  toFieldsResponse,
  toFieldValuesResponse,
} from './fields.ts';
import { planContext, planFacets, planHistogram, planList, planOneLog } from './plan.ts';
import {
  contextQuery,
  facetsBatchQuery,
  facetsQuery,
  histogramQuery,
  listQuery,
  logParams,
  type LogQuery,
  logQuery,
} from './requests.ts';
import {
  type ContextResponse,
  contextResponse,
  facetResponse,
  facetsBatchResponse,
  histogramResponse,
  listResponse,
  logRecord,
} from './responses.ts';
import { planStats, statsQuery, statsResponse, toStatsResponse } from './stats/stats.ts';

export interface LogReadParts extends ReadContextSource {
  readonly store: Pick<Store, 'list' | 'histogram' | 'facets' | 'stats' | 'fields' | 'fieldValues'>;
  /** Unix ns up to which every log that Weir stamps is stored; see the queue's port. */
  readonly watermarkNanos: () => bigint;
}

export function createStreamRoutes(parts: LogReadParts): readonly ReadRoute[] {
  return [...logRoutes(parts), ...analyticsRoutes(parts), ...fieldRoutes(parts)];
}

function logRoutes(parts: LogReadParts): readonly ReadRoute[] {
  const { store, watermarkNanos } = parts;

  /** @throws AppError `malformed`, `not_found` */
  async function findLog(request: ReadRequest, context: ReadContext, query: LogQuery) {
    const position = parseLogId(request.params['logId']!);
    const plan = planOneLog(context, position, query.streamId);
    return {
      log: toOneLog(position, await store.list(plan, request.disconnected, request.scanned)),
      position,
    };
  }

  const listUnlessEmpty = async (plan: ListPlan, { disconnected, scanned }: ReadCaller) =>
    plan.limit === 0 ? [] : store.list(plan, disconnected, scanned);

  return [
    {
      method: 'GET',
      path: '/api/v1/logs',
      operationId: 'listLogs',
      summary: 'A page of logs, newest first',
      scope: 'logs:read',
      response: jsonResponse(listResponse),
      reportsScan: true,
      ...withQuery(listQuery, async (query, request: ReadRequest) => {
        // Before the read, which then finds every log up to it.
        const watermark = watermarkNanos();
        const plan = planList(await readContext(parts, request.accountId), query, watermark);
        return toListResponse(
          query,
          await store.list(plan, request.disconnected, request.scanned),
          watermark,
        );
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/logs/:logId',
      operationId: 'getLog',
      summary: 'One log',
      scope: 'logs:read',
      params: logParams,
      response: jsonResponse(logRecord),
      reportsScan: true,
      ...withQuery(logQuery, async (query, request: ReadRequest) => {
        const context = await readContext(parts, request.accountId);
        return (await findLog(request, context, query)).log;
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/logs/:logId/context',
      operationId: 'getLogContext',
      summary: 'Logs before and after a log in its stream',
      scope: 'logs:read',
      params: logParams,
      response: jsonResponse(contextResponse),
      reportsScan: true,
      ...withQuery(contextQuery, async (query, request: ReadRequest): Promise<ContextResponse> => {
        const context = await readContext(parts, request.accountId);
        const found = await findLog(request, context, query);
        const { newer, older } = planContext(context, found, query);
        const [after, before] = await Promise.all([
          listUnlessEmpty(newer, request),
          listUnlessEmpty(older, request),
        ]);
        return { after, log: found.log, before };
      }),
    },
  ];
}

function analyticsRoutes(parts: LogReadParts): readonly ReadRoute[] {
  const { store } = parts;
  return [
    {
      method: 'GET',
      path: '/api/v1/histogram',
      operationId: 'getHistogram',
      summary: 'Log counts in buckets of equal length',
      scope: 'analytics:read',
      response: jsonResponse(histogramResponse),
      reportsScan: true,
      ...withQuery(histogramQuery, async (query, request: ReadRequest) => {
        const plan = planHistogram(await readContext(parts, request.accountId), query);
        return toHistogramResponse(
          plan,
          await store.histogram(plan, request.disconnected, request.scanned),
        );
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/stats',
      operationId: 'getStats',
      summary: 'Statistics of fields and labels by time and groups',
      scope: 'analytics:read',
      response: jsonResponse(statsResponse),
      reportsScan: true,
      ...withQuery(statsQuery, async (query, request: ReadRequest) => {
        const plan = planStats(await readContext(parts, request.accountId), query);
        const result = await store.stats(plan, request.disconnected, request.scanned);
        return toStatsResponse(query, plan, result);
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/facets',
      operationId: 'getFacet',
      summary: 'The most common values of a field',
      scope: 'analytics:read',
      response: jsonResponse(facetResponse),
      reportsScan: true,
      ...withQuery(facetsQuery, async (query, request: ReadRequest) => {
        const plan = planFacets(await readContext(parts, request.accountId), query, [query.field]);
        return toFacetResponses(
          [query.field],
          await store.facets(plan, request.disconnected, request.scanned),
        )[0];
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/facets/batch',
      operationId: 'getFacets',
      summary: 'The most common values of several fields',
      scope: 'analytics:read',
      response: jsonResponse(facetsBatchResponse),
      reportsScan: true,
      ...withQuery(facetsBatchQuery, async (query, request: ReadRequest) => {
        const plan = planFacets(await readContext(parts, request.accountId), query, query.fields);
        return {
          facets: toFacetResponses(
            query.fields,
            await store.facets(plan, request.disconnected, request.scanned),
          ),
        };
      }),
    },
  ];
}

function fieldRoutes(parts: LogReadParts): readonly ReadRoute[] {
  const { store } = parts;
  return [
    {
      method: 'GET',
      path: '/api/v1/fields',
      operationId: 'listFields',
      summary: 'Fields and labels of the newest logs, with counts',
      scope: 'analytics:read',
      response: jsonResponse(fieldsResponse),
      reportsScan: true,
      ...withQuery(fieldsQuery, async (query, request: ReadRequest) => {
        const plan = planFields(await readContext(parts, request.accountId), query);
        return toFieldsResponse(await store.fields(plan, request.disconnected, request.scanned));
      }),
    },
    {
      method: 'GET',
      path: '/api/v1/fields/:name/values',
      operationId: 'listFieldValues',
      summary: 'Values of a field in the newest logs, for completion',
      scope: 'analytics:read',
      params: fieldParams,
      response: jsonResponse(fieldValuesResponse),
      reportsScan: true,
      ...withQuery(fieldValuesQuery, async (query, request: ReadRequest) => {
        const name = request.params['name']!;
        const plan = planFieldValues(await readContext(parts, request.accountId), name, query);
        return toFieldValuesResponse(
          name,
          await store.fieldValues(plan, request.disconnected, request.scanned),
        );
      }),
    },
  ];
}

function parseLogId(text: string): LogPosition {
  const position = decodeLogId(text);
  if (position !== undefined) return position;
  throw new AppError(
    'malformed',
    `cannot read logId ${JSON.stringify(text.slice(0, 80))}: it must be the logId of a log`,
    { parameter: 'logId' },
  );
}
