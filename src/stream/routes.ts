/**
 * Reads of one account's logs: each handler plans the read, queries the store and builds the
 * response, which is never missing logs. When the reader disconnects, the store stops the query.
 */
import { AppError } from '../model/errors.ts';
import { decodeLogId, type LogPosition } from '../model/log-id.ts';
import type { ListPlan } from '../model/plan.ts';
import type { ReadRoute } from '../model/read-route.ts';
import type { ReadContext, ReadContextSource } from '../model/readable-streams.ts';
import type { Store } from '../store/port.ts';
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
import { logRead, type Reading } from './log-read.ts';
import { planContext, planFacets, planHistogram, planList, planOneLog } from './plan.ts';
import {
  contextQuery,
  facetsBatchQuery,
  facetsQuery,
  histogramQuery,
  listQuery,
  logParams,
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
import { toFacetResponses, toHistogramResponse, toListResponse, toOneLog } from './to-responses.ts';

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
  async function findLog(
    logId: string,
    context: ReadContext,
    { streamId, reading }: { readonly streamId?: string[] | undefined; readonly reading: Reading },
  ) {
    const position = parseLogId(logId);
    const plan = planOneLog(context, position, streamId);
    return { log: toOneLog(position, await store.list(plan, ...reading)), position };
  }

  const listUnlessEmpty = async (plan: ListPlan, reading: Reading) =>
    plan.limit === 0 ? [] : store.list(plan, ...reading);

  return [
    logRead(parts, {
      path: '/api/v1/logs',
      operationId: 'listLogs',
      summary: 'A page of logs, newest first',
      scope: 'logs:read',
      query: listQuery,
      response: listResponse,
      async answer(query, context, { reading }) {
        // Before the read, which then finds every log up to it.
        const watermark = watermarkNanos();
        const logs = await store.list(planList(context, query, watermark), ...reading);
        return toListResponse(query, logs, watermark);
      },
    }),
    logRead(parts, {
      path: '/api/v1/logs/:logId',
      operationId: 'getLog',
      summary: 'One log',
      scope: 'logs:read',
      params: logParams,
      query: logQuery,
      response: logRecord,
      answer: async ({ streamId }, context, { params, reading }) =>
        (await findLog(params['logId']!, context, { streamId, reading })).log,
    }),
    logRead(parts, {
      path: '/api/v1/logs/:logId/context',
      operationId: 'getLogContext',
      summary: 'Logs before and after a log in its stream',
      scope: 'logs:read',
      params: logParams,
      query: contextQuery,
      response: contextResponse,
      async answer(query, context, { params, reading }): Promise<ContextResponse> {
        const { streamId } = query;
        const found = await findLog(params['logId']!, context, { streamId, reading });
        const { newer, older } = planContext(context, found, query);
        const [after, before] = await Promise.all([
          listUnlessEmpty(newer, reading),
          listUnlessEmpty(older, reading),
        ]);
        return { after, log: found.log, before };
      },
    }),
  ];
}

function analyticsRoutes(parts: LogReadParts): readonly ReadRoute[] {
  const { store } = parts;
  return [
    logRead(parts, {
      path: '/api/v1/histogram',
      operationId: 'getHistogram',
      summary: 'Log counts in buckets of equal length',
      scope: 'analytics:read',
      query: histogramQuery,
      response: histogramResponse,
      async answer(query, context, { reading }) {
        const plan = planHistogram(context, query);
        return toHistogramResponse(plan, await store.histogram(plan, ...reading));
      },
    }),
    logRead(parts, {
      path: '/api/v1/stats',
      operationId: 'getStats',
      summary: 'Statistics of fields and labels by time and groups',
      scope: 'analytics:read',
      query: statsQuery,
      response: statsResponse,
      async answer(query, context, { reading }) {
        const plan = planStats(context, query);
        return toStatsResponse(query, plan, await store.stats(plan, ...reading));
      },
    }),
    logRead(parts, {
      path: '/api/v1/facets',
      operationId: 'getFacet',
      summary: 'The most common values of a field',
      scope: 'analytics:read',
      query: facetsQuery,
      response: facetResponse,
      async answer(query, context, { reading }) {
        const plan = planFacets(context, query, [query.field]);
        return toFacetResponses([query.field], await store.facets(plan, ...reading))[0];
      },
    }),
    logRead(parts, {
      path: '/api/v1/facets/batch',
      operationId: 'getFacets',
      summary: 'The most common values of several fields',
      scope: 'analytics:read',
      query: facetsBatchQuery,
      response: facetsBatchResponse,
      async answer(query, context, { reading }) {
        const plan = planFacets(context, query, query.fields);
        return { facets: toFacetResponses(query.fields, await store.facets(plan, ...reading)) };
      },
    }),
  ];
}

function fieldRoutes(parts: LogReadParts): readonly ReadRoute[] {
  const { store } = parts;
  return [
    logRead(parts, {
      path: '/api/v1/fields',
      operationId: 'listFields',
      summary: 'Fields and labels of the newest logs, with counts',
      scope: 'analytics:read',
      query: fieldsQuery,
      response: fieldsResponse,
      answer: async (query, context, { reading }) =>
        toFieldsResponse(await store.fields(planFields(context, query), ...reading)),
    }),
    logRead(parts, {
      path: '/api/v1/fields/:name/values',
      operationId: 'listFieldValues',
      summary: 'Values of a field in the newest logs, for completion',
      scope: 'analytics:read',
      params: fieldParams,
      query: fieldValuesQuery,
      response: fieldValuesResponse,
      async answer(query, context, { params, reading }) {
        const name = params['name']!;
        const plan = planFieldValues(context, name, query);
        return toFieldValuesResponse(name, await store.fieldValues(plan, ...reading));
      },
    }),
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
