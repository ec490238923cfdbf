/**
 * Reads of metrics: with `prefix` as its base URL, a client of Prometheus' HTTP API works
 * unchanged. Each handler plans the read, queries the store and shapes the answer. Once the reader
 * has disconnected, the store stops the query.
 * https://prometheus.io/docs/prometheus/latest/querying/api
 */
import type { RuleStore } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import {
  jsonResponse,
  type ReadBody,
  type ReadRequest,
  type ReadResponse,
  type ReadRoute,
} from '../model/read-route.ts';
import { type ReadContextSource, readContext } from '../model/readable-streams.ts';
import type { Store } from '../store/port.ts';
import {
  cutTo,
  exemplarsResponse,
  metadataResponse,
  type MetricRoute,
  namesResponse,
  prometheusFailure,
  seriesResponse,
  success,
  toExemplars,
  toLabelSet,
  toMetadata,
} from './responses.ts';
import {
  defaultLimits,
  type MetricsLimits,
  planExemplars,
  planMetadata,
  planSeries,
} from './plan.ts';
import { createQueryRoutes } from './query-routes.ts';
import { createRemoteRead, type RemoteReadParts } from './remote-read.ts';
import {
  exemplarsQuery,
  labelParams,
  metadataQuery,
  noQuery,
  seriesQuery,
  unescapeLabelName,
  withMetricQuery,
} from './requests.ts';
import { createRuleRoutes } from './rule-routes.ts';
import { createStatusRoutes } from './status-routes.ts';

const prefix = '/api/v1/prometheus';

const maxBodyBytes = 1024 * 1024;
const form: ReadBody = {
  kind: 'form',
  mediaTypes: [{ name: 'application/x-www-form-urlencoded' }],
  codings: ['identity'],
  maxBytes: maxBodyBytes,
};
const readMessage: ReadBody = {
  kind: 'message',
  mediaTypes: [{ name: 'application/x-protobuf' }],
  codings: ['snappy'],
  maxBytes: maxBodyBytes,
};
const readResponse: ReadResponse = {
  mediaType: 'application/x-protobuf',
  schema: undefined,
  headers: { 'content-encoding': 'snappy' },
};

export interface MetricsReadParts extends ReadContextSource, RemoteReadParts {
  readonly rules: Pick<RuleStore, 'listRuleGroups'>;
  readonly store: Pick<
    Store,
    | 'samples'
    | 'sampleColumns'
    | 'series'
    | 'labelNames'
    | 'labelValues'
    | 'metricMetadata'
    | 'exemplars'
  >;
}

/** Every handler may throw AppError `malformed`, `not_found` or `unavailable`. */
export function createMetricRoutes(
  parts: MetricsReadParts,
  configured: Pick<MetricsLimits, 'maxReadSeries' | 'maxReadSamples' | 'maxQuerySamples'> &
    Partial<MetricsLimits>,
): readonly ReadRoute[] {
  const limits: MetricsLimits = { ...defaultLimits, ...configured };
  const readSamples = createRemoteRead(parts, limits);
  return [
    route('POST', {
      path: 'read',
      operationId: 'readSamples',
      summary: 'Remote read: samples of series, as a message prometheus.ReadResponse',
      query: noQuery,
      body: readMessage,
      response: readResponse,
      read: (request) => readSamples(request, request.body),
    }),
    ...labelRoutes(parts, limits),
    ...metricRoutes(parts, limits),
    ...[...createRuleRoutes(parts), ...createStatusRoutes(parts, limits)].map((definition) =>
      route('GET', definition),
    ),
    ...createQueryRoutes(parts, limits).flatMap(getAndPost),
  ];
}

function labelRoutes(parts: MetricsReadParts, limits: MetricsLimits): readonly ReadRoute[] {
  const { store } = parts;
  const { maxReadSeries } = limits;
  return [
    ...getAndPost({
      path: 'labels',
      operationId: 'LabelNames',
      summary: 'Names of labels',
      response: jsonResponse(namesResponse),
      ...withMetricQuery(seriesQuery, async (query, { accountId, disconnected }: ReadRequest) => {
        const plan = planSeries(await readContext(parts, accountId), query, limits);
        return cutTo(await store.labelNames(plan, disconnected), query.limit, maxReadSeries);
      }),
    }),
    // Without POST, as with Prometheus.
    route('GET', {
      path: 'label/:name/values',
      operationId: 'getLabelValues',
      summary: 'Values of a label',
      params: labelParams,
      response: jsonResponse(namesResponse),
      ...withMetricQuery(
        seriesQuery,
        async (query, { accountId, params, disconnected }: ReadRequest) => {
          const name = unescapeLabelName(params['name'] ?? '');
          if (name === '') throw new AppError('malformed', 'cannot list values: no label is named');
          const plan = planSeries(await readContext(parts, accountId), query, limits);
          return cutTo(
            await store.labelValues(plan, name, disconnected),
            query.limit,
            maxReadSeries,
          );
        },
      ),
    }),
    ...getAndPost({
      path: 'series',
      operationId: 'Series',
      summary: 'Label sets of series',
      response: jsonResponse(seriesResponse),
      ...withMetricQuery(seriesQuery, async (query, { accountId, disconnected }: ReadRequest) => {
        if (query['match[]'] === undefined) {
          throw new AppError('malformed', 'cannot answer without parameter match[]', {
            parameter: 'match[]',
          });
        }
        const plan = planSeries(await readContext(parts, accountId), query, limits);
        const found = await store.series(plan, disconnected);
        const { data, ...rest } = cutTo(found, query.limit, maxReadSeries);
        return { ...success(data.map(toLabelSet)), ...rest };
      }),
    }),
  ];
}

function metricRoutes(parts: MetricsReadParts, limits: MetricsLimits): readonly ReadRoute[] {
  const { store } = parts;
  return [
    // Without POST, as with Prometheus.
    route('GET', {
      path: 'metadata',
      operationId: 'getMetricMetadata',
      summary: 'Type, help and unit of metrics',
      response: jsonResponse(metadataResponse),
      ...withMetricQuery(metadataQuery, async (query, { accountId, disconnected }: ReadRequest) => {
        const plan = planMetadata(await readContext(parts, accountId), query, limits);
        const requested = { limit: query.limit, perMetric: query.limit_per_metric };
        return toMetadata(
          await store.metricMetadata(plan, disconnected),
          requested,
          limits.maxReadSeries,
        );
      }),
    }),
    ...getAndPost({
      path: 'query_exemplars',
      operationId: 'Exemplars',
      summary: 'Exemplars of the series that an expression selects',
      response: jsonResponse(exemplarsResponse),
      ...withMetricQuery(
        exemplarsQuery,
        async (query, { accountId, disconnected }: ReadRequest) => {
          const plan = planExemplars(await readContext(parts, accountId), query, limits);
          return toExemplars(plan === undefined ? [] : await store.exemplars(plan, disconnected));
        },
      ),
    }),
  ];
}

/** As POST, parameters are a form, since a selector may be too long for a URL. */
function getAndPost({ operationId, ...rest }: MetricRoute): readonly ReadRoute[] {
  return [
    route('GET', { ...rest, operationId: `get${operationId}` }),
    route('POST', { ...rest, operationId: `post${operationId}`, body: form }),
  ];
}

function route(method: ReadRoute['method'], definition: MetricRoute): ReadRoute {
  return {
    ...definition,
    method,
    path: `${prefix}/api/v1/${definition.path}`,
    scope: 'metrics:read',
    // Some versions of Prometheus accept `headers` for remote_read but do not send them.
    accountParameter: 'accountId',
    failure: prometheusFailure,
  };
}
