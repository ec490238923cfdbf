/**
 * The OpenAPI 3.1 documents of the two public surfaces, made from the very routes that are mounted
 * and the very schemas that validate. https://spec.openapis.org/oas/v3.1.1.html
 */
import { z } from 'zod';
import { type ErrorCode, errorTable } from '../model/errors.ts';
import type { StreamRoute } from '../stream/routes.ts';
import { problemType } from './errors.ts';
import type { IngestRoute, OpenRoute, RouteTable } from './route.ts';
import { adminPrefix } from './stream-surface.ts';

type Json = Readonly<Record<string, unknown>>;
type Operations = Record<string, Record<string, Json>>;

export interface DocumentInfo {
  readonly version: string;
  /** As senders and readers know the surface. */
  readonly serverUrl: string;
}

const dataErrors: readonly ErrorCode[] = [
  'malformed',
  'unauthenticated',
  'forbidden',
  'not_found',
  'timeout',
  'too_large',
  'unsupported_media',
  'quota_exceeded',
  'internal',
  'unavailable',
];
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

const problemSchema = z.object({
  type: z.string().meta({ description: 'urn:weir:problem: and the code.' }),
  status: z.int(),
  code: z.enum(Object.keys(errorTable) as ErrorCode[]),
  title: z.string(),
  detail: z.string().meta({ description: 'What cannot be done, and what to change.' }),
  requestId: z.string().meta({ description: 'Names this request in the log of the service.' }),
  parameter: z.string().optional().meta({ description: 'The parameter or field at fault.' }),
});

export function ingestDocument(routes: RouteTable['ingest'], info: DocumentInfo): Json {
  const paths: Operations = {};
  for (const route of routes.data) add(paths, route, describeIngest(route));
  for (const route of routes.open) add(paths, route, describeOpen(route));
  return document('Weir ingest', info, paths, 'A token bound to one receiver (`wri_…`).');
}

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

function document(title: string, info: DocumentInfo, paths: Operations, token: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: info.serverUrl }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: token } },
      schemas: { Problem: toSchema(problemSchema) },
      responses: Object.fromEntries(
        (Object.keys(errorTable) as ErrorCode[]).map((code) => [code, errorResponse(code)]),
      ),
    },
  };
}

function describeIngest({ protocol, description }: IngestRoute): Json {
  const body = {
    schema: toSchema(description.requestSchema, 'input'),
    examples: toExamples(description.requestExamples),
  };
  const success = {
    description: description.successDescription,
    headers: {
      'Idempotency-Replayed': {
        description: 'true where an earlier request with this key got this answer.',
        schema: { type: 'string' },
      },
      ...rateLimitHeaders,
    },
    ...(description.successSchema && {
      content: {
        'application/json': {
          schema: toSchema(description.successSchema),
          examples: toExamples(description.successExamples),
        },
      },
    }),
  };
  return {
    operationId: description.operationId,
    summary: description.summary,
    description: description.details,
    security: [{ token: ['ingest:write'] }],
    parameters: [
      { name: 'receiverId', in: 'path', required: true, schema: { type: 'string' } },
      {
        name: 'Idempotency-Key',
        in: 'header',
        description: '1 to 255 visible ASCII characters; a repeated request gets the first answer.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    requestBody: {
      required: true,
      content: Object.fromEntries(protocol.mediaTypes.map(({ name }) => [name, body])),
    },
    responses: { [protocol.successStatus]: success, ...errorResponses(dataErrors) },
  };
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

function describeOpen({ operationId, summary, answers }: OpenRoute): Json {
  const responses = Object.entries(answers).map(([status, description]) => [
    status,
    { description },
  ]);
  return { operationId, summary, security: [], responses: Object.fromEntries(responses) };
}

/** `/a/:b` in our routes is `/a/{b}` in OpenAPI. */
function add(paths: Operations, route: { method: string; path: string }, operation: Json): void {
  const path = route.path.replace(/:(\w+)/g, '{$1}');
  paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
}

const accountHeader = {
  name: 'X-Active-Account',
  in: 'header',
  required: true,
  description: 'The account to act for; one of the token.',
  schema: { type: 'string', format: 'uuid' },
};

const rateLimitHeaders = {
  'RateLimit-Policy': { description: 'The quotas, where any is set.', schema: { type: 'string' } },
  RateLimit: { description: 'What is left of them.', schema: { type: 'string' } },
};

function toParameters(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = toSchema(schema, 'input') as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

/** Several codes may share a status; the document keeps one answer for each status. */
function errorResponses(codes: readonly ErrorCode[]): Json {
  return Object.fromEntries(
    codes.map((code) => [errorTable[code].httpStatus, { $ref: `#/components/responses/${code}` }]),
  );
}

function errorResponse(code: ErrorCode): Json {
  const { httpStatus, title, retryable } = errorTable[code];
  const example = {
    type: `urn:weir:problem:${code}`,
    status: httpStatus,
    code,
    title,
    detail: 'cannot …',
    requestId: 'b2Zk-1f',
  };
  const headers = {
    ...(retryable && {
      'Retry-After': {
        description: 'Seconds.',
        schema: { type: 'integer', minimum: 1, maximum: 5 },
      },
    }),
    ...(code === 'quota_exceeded' && rateLimitHeaders),
    ...(code === 'unauthenticated' && { 'WWW-Authenticate': { schema: { type: 'string' } } }),
    ...(code === 'method_not_allowed' && { Allow: { schema: { type: 'string' } } }),
  };
  return {
    description: title,
    headers,
    content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' }, example } },
  };
}

function toExamples(examples: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function toSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Zod leaves these out of what is transformed; ours are written as they are sent.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      const { def } = zodSchema._zod;
      if (def.type === 'default' && typeof def.defaultValue === 'number') {
        jsonSchema.default = def.defaultValue;
      }
    },
  });
  return json;
}
