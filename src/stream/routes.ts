/** The read routes as plain data: the edge mounts them, checks the scope and describes them. */
import { parseQuery } from '../model/parse-query.ts';
import { jsonResponse, type ReadRoute } from '../model/read-route.ts';
import { facetsBatchQuery, facetsQuery, histogramQuery, listQuery } from './requests.ts';
import {
  facetResponse,
  facetsBatchResponse,
  histogramResponse,
  listResponse,
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
      read: ({ accountId, search }) => reader.list(accountId, parseQuery(listQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/histogram',
      operationId: 'getHistogram',
      summary: 'Counts of logs over equal spans of time',
      scope: 'analytics:read',
      query: histogramQuery,
      response: jsonResponse(histogramResponse),
      read: ({ accountId, search }) =>
        reader.histogram(accountId, parseQuery(histogramQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets',
      operationId: 'getFacet',
      summary: 'The commonest values of a field',
      scope: 'analytics:read',
      query: facetsQuery,
      response: jsonResponse(facetResponse),
      read: ({ accountId, search }) => reader.facets(accountId, parseQuery(facetsQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets/batch',
      operationId: 'getFacets',
      summary: 'The commonest values of several fields',
      scope: 'analytics:read',
      query: facetsBatchQuery,
      response: jsonResponse(facetsBatchResponse),
      read: ({ accountId, search }) =>
        reader.facetsBatch(accountId, parseQuery(facetsBatchQuery, search)),
    },
  ];
}
