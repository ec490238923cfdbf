/** The OpenAPI 3.1 documents, made from the mounted routes and the schemas that validate them. */
import type { z } from 'zod';
import type { AdminRoute } from '../admin/routes.ts';
import type { ErrorCode } from '../model/errors.ts';
import {
  type ReadBody,
  type ReadResponse,
  type ReadRoute,
  scanHeaders,
  type TicketRoute,
} from '../model/read-route.ts';
import { answerCodings } from '../std/content-coding.ts';
import type { IngestRoutes } from './ingest-surface.ts';
import { describeIngest } from './openapi-ingest.ts';
import {
  anyErrors,
  describeOpen,
  document,
  type DocumentInfo,
  errorResponses,
  type Json,
  mapValues,
  type Operation,
  requestBodyErrors,
  toParameters,
  toSchema,
} from './openapi-parts.ts';
import { describeSession, sessionRoutes } from './sessions.ts';
import { adminPrefix, type StreamRoutes } from './stream-surface.ts';

const ticketErrors: readonly ErrorCode[] = [...anyErrors, 'not_found'];
const readErrors: readonly ErrorCode[] = [...ticketErrors, 'malformed', 'unauthenticated'];
const bodyErrors: readonly ErrorCode[] = [...readErrors, ...requestBodyErrors];
const adminErrors: readonly ErrorCode[] = [...bodyErrors, 'conflict'];
const ifMatchErrors: readonly ErrorCode[] = ['precondition_failed'];

/** Protocols describe their routes by hand: decoders work on bytes and have no schema. */
export function ingestDocument({ data, open }: IngestRoutes, info: DocumentInfo): Json {
  const operations = [...data.flatMap(describeIngest), ...open.map(describeOpen)];
  return document('Weir ingest', info, 'A token bound to one receiver (`wri_…`).', operations);
}

export function streamDocument(routes: StreamRoutes, info: DocumentInfo): Json {
  const operations = [
    ...routes.reads.flatMap(describeRead),
    ...routes.tickets.map(describeTicket),
    ...routes.admin.map(describeAdmin),
    ...sessionRoutes.map(describeSession),
    ...routes.open.map(describeOpen),
  ];
  return document('Weir stream', info, 'An access token (`wra_…`).', operations);
}

function describeRead(route: ReadRoute): Operation[] {
  const { method, path, operationId, summary, params, query, body, response, failure } = route;
  if (response === undefined) return [];
  const describe = {
    operationId,
    summary,
    description: [route.description, `Needs the scope \`${route.scope}\`.`]
      .filter(Boolean)
      .join(' '),
    security: [{ token: [] }],
    parameters: [
      ...accountParameters(route),
      ...(response.mediaType === 'text/event-stream' ? [lastEventId] : []),
      ...toParameters(params, 'path'),
      ...(body?.kind === 'form' ? [] : toParameters(query, 'query')),
    ],
    ...(body && { requestBody: describeReadBody(body, query) }),
    responses: {
      200: { description: summary, ...describeReadResponse(response, route.reportsScan === true) },
      ...errorResponses(
        [...(body === undefined ? readErrors : bodyErrors), ...(failure?.codes ?? [])],
        failure && { 'application/json': toContent(failure.schema) },
      ),
    },
  };
  return [{ method, path, describe }];
}

function describeReadBody({ kind, mediaTypes }: ReadBody, query: z.ZodObject): Json {
  const content = toContent(kind === 'form' ? query : undefined, 'input');
  return {
    required: kind === 'message',
    content: Object.fromEntries(mediaTypes.map(({ name }) => [name, content])),
  };
}

function describeReadResponse(response: ReadResponse, reportsScan: boolean): Json {
  const { mediaType, otherMediaTypes = [], headers = {}, schema } = response;
  const content = toContent(schema);
  return {
    headers: {
      'Cache-Control': { schema: { const: 'private, no-store' } },
      ...(mediaType === 'application/json' && contentEncodingObject),
      ...mapValues(headers, (value) => ({ schema: { const: value } })),
      ...(reportsScan && scanHeaderObjects),
    },
    content: Object.fromEntries([mediaType, ...otherMediaTypes].map((type) => [type, content])),
  };
}

const contentEncodingObject = {
  'Content-Encoding': {
    description: 'Set if `Accept-Encoding` asks for it and the answer has 1 KiB or more.',
    schema: { enum: answerCodings },
  },
};

const scanHeaderObjects = {
  [scanHeaders.rows]: {
    description:
      'Rows that the store read for the answer; 0 if counts in memory gave all of it. Many for ' +
      'few logs mean that a narrower range or a further filter would be faster.',
    schema: { type: 'integer' },
  },
  [scanHeaders.bytes]: {
    description: 'Uncompressed size of the columns that it read of them.',
    schema: { type: 'integer' },
  },
};

/** Bytes have no schema (OpenAPI 3.1 §4.8.14.3). */
function toContent(schema: z.ZodType | undefined, io: 'input' | 'output' = 'output'): Json {
  return schema === undefined ? {} : { schema: toSchema(schema, io) };
}

function describeTicket({ path, operationId, summary, params, mediaTypes }: TicketRoute) {
  const describe = {
    operationId,
    summary,
    description: 'Needs no token: the path has a ticket that was issued for one.',
    security: [],
    parameters: toParameters(params, 'path'),
    responses: {
      200: {
        description: summary,
        content: Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, {}])),
      },
      ...errorResponses(ticketErrors),
    },
  };
  return { method: 'GET', path, describe };
}

function describeAdmin(route: AdminRoute): Operation {
  const { method, operationId, summary, scope, params, body, response } = route;
  const { accountScoped, isVersioned, takesIfMatch } = route;
  const toJson = (schema: z.ZodType, io?: 'input') => ({
    content: { 'application/json': toContent(schema, io) },
  });
  const describe = {
    operationId,
    summary,
    ...(scope !== undefined && { description: `Needs the scope \`${scope}\`.` }),
    security: [{ token: [] }],
    parameters: [
      ...toParameters(params, 'path'),
      ...(accountScoped ? [accountHeader] : []),
      ...(takesIfMatch ? [ifMatchHeader] : []),
    ],
    ...(body && { requestBody: { required: true, ...toJson(body, 'input') } }),
    responses: {
      [route.successStatus]: {
        description: summary,
        ...(isVersioned && { headers: { ETag: etagHeader } }),
        ...(response && toJson(response)),
      },
      ...errorResponses([...adminErrors, ...(takesIfMatch ? ifMatchErrors : [])]),
    },
  };
  return { method, path: adminPrefix + route.path, describe };
}

const accountHeader = {
  name: 'X-Active-Account',
  in: 'header',
  required: true,
  description: 'Account of the request; one that the token grants.',
  schema: { type: 'string', format: 'uuid' },
};

const etagHeader = {
  description: 'The `version`, for If-Match.',
  schema: { type: 'string' },
};

const ifMatchHeader = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` of the last read; 412 if it has changed since. Default: any version.',
  schema: { type: 'string' },
};

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The `id` of an earlier event, after which the tail resumes. Default: now.',
  schema: { type: 'string' },
};

function accountParameters({ accountParameter }: ReadRoute): Json[] {
  if (accountParameter === undefined) return [accountHeader];
  const { name, schema } = accountHeader;
  const inUrl = {
    name: accountParameter,
    in: 'query',
    description: `Instead of ${name}, for clients that cannot send headers.`,
    schema,
  };
  return [{ ...accountHeader, required: false }, inUrl];
}
