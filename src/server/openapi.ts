/**
 * The OpenAPI 3.1 document of the stream surface, made from the very routes that are mounted and
 * the very schemas that validate.
 */
import type { z } from 'zod';
import { type ErrorCode, errorTable } from '../model/errors.ts';
import { fieldEntries } from '../model/log-fields.ts';
import type {
  ReadBody,
  ReadFailure,
  ReadResponse,
  ReadRoute,
  TicketRoute,
} from '../model/read-route.ts';
import {
  add,
  describeOpen,
  document,
  type DocumentInfo,
  errorResponses,
  type Json,
  type Operations,
  toParameters,
  toSchema,
} from './openapi-parts.ts';
import type { RouteTable } from './route.ts';
import { adminPrefix } from './stream-surface.ts';

const readErrors: readonly ErrorCode[] = [
  'malformed',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'internal',
  'unavailable',
];
const ticketErrors: readonly ErrorCode[] = [
  'forbidden',
  'not_found',
  'method_not_allowed',
  'internal',
  'unavailable',
];
const bodyErrors: readonly ErrorCode[] = [
  ...readErrors,
  'timeout',
  'too_large',
  'unsupported_media',
];
const adminErrors: readonly ErrorCode[] = [...bodyErrors, 'conflict'];

export function streamDocument(routes: RouteTable['stream'], info: DocumentInfo): Json {
  const paths: Operations = {};
  for (const route of routes.reads) {
    if (route.response !== undefined) add(paths, route, describeRead(route, route.response));
  }
  for (const route of routes.tickets) {
    add(paths, { method: 'GET', path: route.path }, describeTicket(route));
  }
  for (const route of routes.admin) {
    const path = adminPrefix + route.path;
    const parameters = [
      ...(route.params === undefined ? [] : toParameters(route.params, 'path')),
      ...(route.accountScoped ? [accountHeader] : []),
    ];
    const success = {
      description: route.summary,
      ...(route.response && {
        content: { 'application/json': { schema: toSchema(route.response) } },
      }),
    };
    add(
      paths,
      { method: route.method, path },
      {
        operationId: route.operationId,
        summary: route.summary,
        ...(route.scope !== undefined && { description: `Needs the scope \`${route.scope}\`.` }),
        security: [{ token: [] }],
        parameters,
        ...(route.body && {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: toSchema(route.body, 'input') } },
          },
        }),
        responses: { [route.successStatus]: success, ...errorResponses(adminErrors) },
      },
    );
  }
  for (const route of routes.open) add(paths, route, describeOpen(route));
  const described = document('Weir stream', info, paths, 'An access token (`wra_…`).');
  return { ...described, 'x-weir-fields': fieldEntries.map(describeField) };
}

/** How the explorer shows a field, and whether it filters and counts by it. */
function describeField([name, { title, path, filter }]: (typeof fieldEntries)[number]): Json {
  const [facet] = filter?.facets ?? [];
  return {
    name,
    title,
    path,
    isFilter: filter !== undefined,
    isAnyCase: filter?.match === 'anyCase',
    ...(facet !== undefined && { facet }),
  };
}

function describeRead(route: ReadRoute, response: ReadResponse): Json {
  const { params, query, body, failure } = route;
  const isForm = body?.kind === 'form';
  const codes = body === undefined ? readErrors : bodyErrors;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, `Needs the scope \`${route.scope}\`.`]
      .filter(Boolean)
      .join(' '),
    security: [{ token: [] }],
    parameters: [
      ...accountParameters(route),
      ...(response.mediaType === 'text/event-stream' ? [lastEventId] : []),
      ...(params === undefined ? [] : toParameters(params, 'path')),
      ...(isForm ? [] : toParameters(query, 'query')),
    ],
    ...(body !== undefined && { requestBody: describeBody(body, query) }),
    responses: {
      200: {
        description: route.summary,
        headers: {
          'Cache-Control': { schema: { const: 'private, no-store' } },
          ...toHeaders(response.headers ?? {}),
        },
        content: Object.fromEntries(
          [response.mediaType, ...(response.otherMediaTypes ?? [])].map((mediaType) => [
            mediaType,
            toContent(response.schema),
          ]),
        ),
      },
      ...(failure === undefined ? errorResponses(codes) : describeFailures(codes, failure)),
    },
  };
}

function describeTicket(route: TicketRoute): Json {
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: 'Needs no token: the ticket in the path was given out to somebody who had one.',
    security: [],
    parameters: toParameters(route.params, 'path'),
    responses: {
      200: {
        description: route.summary,
        content: Object.fromEntries(route.mediaTypes.map((mediaType) => [mediaType, {}])),
      },
      ...errorResponses(ticketErrors),
    },
  };
}

function describeBody({ kind, mediaTypes }: ReadBody, query: z.ZodObject): Json {
  const content = toContent(kind === 'form' ? query : undefined, 'input');
  return {
    required: kind === 'message',
    content: Object.fromEntries(mediaTypes.map(({ name }) => [name, content])),
  };
}

function describeFailures(codes: readonly ErrorCode[], { schema }: ReadFailure): Json {
  const content = { 'application/json': toContent(schema) };
  return Object.fromEntries(
    codes.map((code) => {
      const { httpStatus, title } = errorTable[code];
      return [httpStatus, { description: title, content }];
    }),
  );
}

/** Bytes have no schema (OpenAPI 3.1 §4.8.14.3). */
function toContent(schema: z.ZodType | undefined, io: 'input' | 'output' = 'output'): Json {
  return schema === undefined ? {} : { schema: toSchema(schema, io) };
}

function toHeaders(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, { schema: { const: value } }]),
  );
}

const accountHeader = {
  name: 'X-Active-Account',
  in: 'header',
  required: true,
  description: 'The account to act for; one of the token.',
  schema: { type: 'string', format: 'uuid' },
};

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The `id` of an event of an earlier answer: go on after it. Default: begin now.',
  schema: { type: 'string' },
};

function accountParameters({ accountParameter }: ReadRoute): Json[] {
  if (accountParameter === undefined) return [accountHeader];
  const { name, schema } = accountHeader;
  const inUrl = {
    name: accountParameter,
    in: 'query',
    description: `In place of ${name}, for clients that can send no header of their own.`,
    schema,
  };
  return [{ ...accountHeader, required: false }, inUrl];
}
