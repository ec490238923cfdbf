/** The read routes as plain data: the edge mounts them, checks the scope and describes them. */
import { parseQuery } from '../std/parse-query.ts';
import { jsonResponse, type ReadRoute } from '../model/read-route.ts';
import { contextQuery, logParams, logQuery } from './log-requests.ts';
import { facetsBatchQuery, facetsQuery, histogramQuery, listQuery } from './requests.ts';
import {
  contextResponse,
  facetResponse,
  facetsBatchResponse,
  histogramResponse,
  listResponse,
  logRecord,
} from './responses.ts';
import type { StreamReader } from './stream-reader.ts';

/** SPEC §4.2 and §5. */
export function createStreamRoutes(reader: StreamReader): readonly ReadRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logs',
      operationId: 'listLogs',
      summary: 'A page of logs, newest first',
      scope: 'logs:read',
      query: listQuery,
      response: jsonResponse(listResponse),
      read: (request) => reader.list(request, parseQuery(listQuery, request.search)),
    },
    {
      method: 'GET',
      path: '/api/v1/logs/:logId',
      operationId: 'getLog',
      summary: 'One log',
      scope: 'logs:read',
      params: logParams,
      query: logQuery,
      response: jsonResponse(logRecord),
      read: (request) =>
        reader.log(request, request.params['logId']!, parseQuery(logQuery, request.search)),
    },
    {
      method: 'GET',
      path: '/api/v1/logs/:logId/context',
      operationId: 'getLogContext',
      summary: 'What stands around a log in its stream',
      scope: 'logs:read',
      params: logParams,
      query: contextQuery,
      response: jsonResponse(contextResponse),
      read: (request) =>
        reader.context(request, request.params['logId']!, parseQuery(contextQuery, request.search)),
    },
    {
      method: 'GET',
      path: '/api/v1/histogram',
      operationId: 'getHistogram',
      summary: 'Counts of logs over equal spans of time',
      scope: 'analytics:read',
      query: histogramQuery,
      response: jsonResponse(histogramResponse),
      read: (request) => reader.histogram(request, parseQuery(histogramQuery, request.search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets',
      operationId: 'getFacet',
      summary: 'The commonest values of a field',
      scope: 'analytics:read',
      query: facetsQuery,
      response: jsonResponse(facetResponse),
      read: (request) => reader.facets(request, parseQuery(facetsQuery, request.search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets/batch',
      operationId: 'getFacets',
      summary: 'The commonest values of several fields',
      scope: 'analytics:read',
      query: facetsBatchQuery,
      response: jsonResponse(facetsBatchResponse),
      read: (request) => reader.facetsBatch(request, parseQuery(facetsBatchQuery, request.search)),
    },
  ];
}
