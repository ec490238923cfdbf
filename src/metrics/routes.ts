/**
 * The reads of metrics as plain data: with `prefix` as its base URL, a client of Prometheus' HTTP
 * API finds what it knows. https://prometheus.io/docs/prometheus/latest/querying/api
 */
import type { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { parseQuery } from '../std/parse-query.ts';
import {
  jsonResponse,
  type ReadBody,
  type ReadRequest,
  type ReadResponse,
  type ReadRoute,
} from '../model/read-route.ts';
import { success } from './answers.ts';
import { prometheusFailure } from './failure.ts';
import { unescapeLabelName } from './label-name.ts';
import type { MetricsReader } from './metrics-reader.ts';
import { exemplarsQuery, labelParams, metadataQuery, noQuery, seriesQuery } from './requests.ts';
import {
  buildInfoResponse,
  exemplarsResponse,
  metadataResponse,
  namesResponse,
  seriesResponse,
} from './responses.ts';

const prefix = '/api/v1/prometheus';

/** Selectors and queries are small, however many there are. */
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

/** Clients ask this to learn what they may use: labels and selectors are those of Prometheus 3. */
const buildInfo: z.output<typeof buildInfoResponse>['data'] = {
  application: 'Weir',
  version: '3.0.0',
  revision: '',
  branch: '',
  buildUser: '',
  buildDate: '',
  goVersion: '',
};

export function createMetricRoutes(reader: MetricsReader): readonly ReadRoute[] {
  return [
    post({
      path: 'read',
      operationId: 'readSamples',
      summary: 'Remote read: samples of series, as a message prometheus.ReadResponse',
      query: noQuery,
      body: readMessage,
      response: readResponse,
      read: (request) => reader.read(request, request.body),
    }),
    ...getAndPost({
      path: 'labels',
      operationId: 'LabelNames',
      summary: 'Names of labels',
      query: seriesQuery,
      response: jsonResponse(namesResponse),
      read: (request) => reader.labelNames(request, parseQuery(seriesQuery, request.search)),
    }),
    ...getAndPost({
      path: 'label/:name/values',
      operationId: 'LabelValues',
      summary: 'Values of a label',
      params: labelParams,
      query: seriesQuery,
      response: jsonResponse(namesResponse),
      read: async (request) => {
        const name = unescapeLabelName(request.params['name'] ?? '');
        if (name === '') throw new AppError('malformed', 'cannot list values: no label is named');
        return reader.labelValues(request, name, parseQuery(seriesQuery, request.search));
      },
    }),
    ...getAndPost({
      path: 'series',
      operationId: 'Series',
      summary: 'Label sets of series',
      query: seriesQuery,
      response: jsonResponse(seriesResponse),
      read: (request) => reader.series(request, parseQuery(seriesQuery, request.search)),
    }),
    ...getAndPost({
      path: 'metadata',
      operationId: 'MetricMetadata',
      summary: 'Type, help and unit of metrics',
      query: metadataQuery,
      response: jsonResponse(metadataResponse),
      read: (request) => reader.metadata(request, parseQuery(metadataQuery, request.search)),
    }),
    ...getAndPost({
      path: 'query_exemplars',
      operationId: 'Exemplars',
      summary: 'Exemplars of the series that one selector fits',
      query: exemplarsQuery,
      response: jsonResponse(exemplarsResponse),
      read: (request) => reader.exemplars(request, parseQuery(exemplarsQuery, request.search)),
    }),
    get({
      path: 'status/buildinfo',
      operationId: 'getBuildInfo',
      summary: "Which version of Prometheus' API this is",
      query: noQuery,
      response: jsonResponse(buildInfoResponse),
      read: async () => success(buildInfo),
    }),
    ...['query', 'query_range'].flatMap((path) =>
      getAndPost({
        path,
        operationId: path,
        summary: 'Not served',
        query: noQuery,
        response: undefined,
        read: refusePromQl,
      }),
    ),
  ];
}

async function refusePromQl(_request: ReadRequest): Promise<never> {
  throw new AppError(
    'not_found',
    'cannot evaluate PromQL here: point a Prometheus at this address with remote_read, as ' +
      'docs/reading-metrics.md shows, and ask that one',
  );
}

/** What a route says itself; `path` is below the API of Prometheus. */
type Definition = Omit<ReadRoute, 'method' | 'scope' | 'accountParameter' | 'failure'>;

function get(definition: Definition): ReadRoute {
  return route('GET', definition);
}

function post(definition: Definition): ReadRoute {
  return route('POST', definition);
}

/** A selector may be too long for a URL, so parameters may come as a form instead. */
function getAndPost({ operationId, ...rest }: Definition): readonly ReadRoute[] {
  return [
    get({ ...rest, operationId: `get${operationId}` }),
    post({ ...rest, operationId: `post${operationId}`, body: form }),
  ];
}

function route(method: ReadRoute['method'], definition: Definition): ReadRoute {
  return {
    ...definition,
    method,
    path: `${prefix}/api/v1/${definition.path}`,
    scope: 'metrics:read',
    // Some builds of Prometheus have the option `headers` for remote_read and send none.
    accountParameter: 'accountId',
    failure: prometheusFailure,
  };
}
