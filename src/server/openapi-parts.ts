/**
 * What both OpenAPI documents are made of: the frame, the errors, and how a schema of zod becomes
 * one of JSON Schema. https://spec.openapis.org/oas/v3.1.1.html
 */
import { z } from 'zod';
import { type ErrorCode, errorTable } from '../model/errors.ts';
import { problemType } from './errors.ts';
import type { OpenRoute } from './route.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Operations = Record<string, Record<string, Json>>;

export interface DocumentInfo {
  readonly version: string;
  /** As senders and readers know the surface. */
  readonly serverUrl: string;
}

const problemSchema = z.object({
  type: z.string().meta({ description: 'urn:weir:problem: and the code.' }),
  status: z.int(),
  code: z.enum(Object.keys(errorTable) as ErrorCode[]),
  title: z.string(),
  detail: z.string().meta({ description: 'What cannot be done, and what to change.' }),
  requestId: z.string().meta({ description: 'Names this request in the log of the service.' }),
  parameter: z.string().optional().meta({ description: 'The parameter or field at fault.' }),
});

export function document(
  title: string,
  info: DocumentInfo,
  paths: Operations,
  token: string,
): Json {
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

export function describeOpen({ operationId, summary, answers }: OpenRoute): Json {
  const responses = Object.entries(answers).map(([status, description]) => [
    status,
    { description },
  ]);
  return { operationId, summary, security: [], responses: Object.fromEntries(responses) };
}

/** `/a/:b` in our routes is `/a/{b}` in OpenAPI. */
export function add(
  paths: Operations,
  route: { method: string; path: string },
  operation: Json,
): void {
  const path = route.path.replace(/:(\w+)/g, '{$1}');
  paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
}

export const rateLimitHeaders = {
  'RateLimit-Policy': { description: 'The quotas, where any is set.', schema: { type: 'string' } },
  RateLimit: { description: 'What is left of them.', schema: { type: 'string' } },
};

export function toParameters(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
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
export function errorResponses(codes: readonly ErrorCode[]): Json {
  return Object.fromEntries(
    codes.map((code) => [errorTable[code].httpStatus, { $ref: `#/components/responses/${code}` }]),
  );
}

function errorResponse(code: ErrorCode): Json {
  const { httpStatus, title } = errorTable[code];
  const example = {
    type: `urn:weir:problem:${code}`,
    status: httpStatus,
    code,
    title,
    detail: 'cannot …',
    requestId: 'b2Zk-1f',
  };
  return {
    description: title,
    headers: errorHeaders(code),
    content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' }, example } },
  };
}

/** What goes along with an error, whatever its body looks like. */
export function errorHeaders(code: ErrorCode): Json {
  return {
    ...(errorTable[code].retryable && {
      'Retry-After': {
        description: 'Seconds.',
        schema: { type: 'integer', minimum: 1, maximum: 5 },
      },
    }),
    ...(code === 'quota_exceeded' && rateLimitHeaders),
    ...(code === 'unauthenticated' && { 'WWW-Authenticate': { schema: { type: 'string' } } }),
    ...(code === 'method_not_allowed' && { Allow: { schema: { type: 'string' } } }),
  };
}

export function toExamples(examples: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

export function toSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
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
