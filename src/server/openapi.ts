/**
 * The OpenAPI 3.1 document of the stream surface, made from the very routes that are mounted and
 * the very schemas that validate.
 */
import type { ErrorCode } from '../model/errors.ts';
import type { StreamRoute } from '../stream/routes.ts';
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
const adminErrors: readonly ErrorCode[] = [
  ...readErrors,
  'conflict',
  'too_large',
  'unsupported_media',
];

export function streamDocument(routes: RouteTable['stream'], info: DocumentInfo): Json {
  const paths: Operations = {};
  for (const route of routes.reads) add(paths, route, describeRead(route));
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
  return document('Weir stream', info, paths, 'An access token (`wra_…`).');
}

function describeRead(route: StreamRoute): Json {
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: `Needs the scope \`${route.scope}\`.`,
    security: [{ token: [] }],
    parameters: [accountHeader, ...toParameters(route.query, 'query')],
    responses: {
      200: {
        description: route.summary,
        headers: { 'Cache-Control': { schema: { const: 'private, no-store' } } },
        content: { 'application/json': { schema: toSchema(route.response) } },
      },
      ...errorResponses(readErrors),
    },
  };
}

const accountHeader = {
  name: 'X-Active-Account',
  in: 'header',
  required: true,
  description: 'The account to act for; one of the token.',
  schema: { type: 'string', format: 'uuid' },
};
