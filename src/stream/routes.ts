/** The read routes as plain data: the edge mounts them, checks the scope and describes them. */
import type { z } from 'zod';
import { parseQuery } from './parse-query.ts';
import { facetsBatchQuery, facetsQuery, histogramQuery, listQuery } from './requests.ts';
import {
  facetResponse,
  facetsBatchResponse,
  histogramResponse,
  listResponse,
} from './responses.ts';
import type { StreamReader } from './stream-reader.ts';

export interface StreamRoute {
  readonly method: 'GET';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly scope: 'logs:read' | 'analytics:read';
  readonly query: z.ZodObject;
  readonly response: z.ZodType;
  /** @throws AppError `malformed`, `not_found` or `unavailable` */
  readonly read: (accountId: string, search: URLSearchParams) => Promise<unknown>;
}

/** SPEC §4.2 and §5. */
export function createStreamRoutes(reader: StreamReader): readonly StreamRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logs',
      operationId: 'listLogs',
      summary: 'A page of logs, newest first',
      scope: 'logs:read',
      query: listQuery,
      response: listResponse,
      read: (accountId, search) => reader.list(accountId, parseQuery(listQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/histogram',
      operationId: 'getHistogram',
      summary: 'Counts of logs over equal spans of time',
      scope: 'analytics:read',
      query: histogramQuery,
      response: histogramResponse,
      read: (accountId, search) => reader.histogram(accountId, parseQuery(histogramQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets',
      operationId: 'getFacet',
      summary: 'The commonest values of a field',
      scope: 'analytics:read',
      query: facetsQuery,
      response: facetResponse,
      read: (accountId, search) => reader.facets(accountId, parseQuery(facetsQuery, search)),
    },
    {
      method: 'GET',
      path: '/api/v1/facets/batch',
      operationId: 'getFacets',
      summary: 'The commonest values of several fields',
      scope: 'analytics:read',
      query: facetsBatchQuery,
      response: facetsBatchResponse,
      read: (accountId, search) =>
        reader.facetsBatch(accountId, parseQuery(facetsBatchQuery, search)),
    },
  ];
}
