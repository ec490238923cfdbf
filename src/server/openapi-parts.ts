/**
 * The parts that both OpenAPI documents share: their frame, error responses, and JSON Schema from
 * zod. https://spec.openapis.org/oas/v3.1.1.html
 */
import { z } from 'zod';
import { type ErrorCode, errorTable } from '../model/errors.ts';
import { problemType } from './errors.ts';
import type { OpenRoute } from './open-routes.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly method: string;
  /** With parameters as `:name`. */
  readonly path: string;
  readonly describe: Json;
}

export interface DocumentInfo {
  readonly version: string;
  /** The public URL of the surface. */
  readonly serverUrl: string;
}

const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** Of every route with authorization. */
export const anyErrors = ['forbidden', 'method_not_allowed', 'internal', 'unavailable'] as const;
/** Of a route that reads a body. */
export const requestBodyErrors = ['timeout', 'too_large', 'unsupported_media'] as const;

const problemSchema = z.object({
  type: z.string().describe('urn:weir:problem: and the code.'),
  status: z.int(),
  code: z.enum(errorCodes),
  title: z.string(),
  detail: z.string().describe('What failed, and what to change.'),
  requestId: z.string().describe('Identifies this request in the log of the service.'),
  parameter: z.string().optional().describe('The invalid parameter or field.'),
});

export function document(
  title: string,
  { version, serverUrl }: DocumentInfo,
  token: string,
  operations: readonly Operation[],
): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const { shared, responses } = shareResponses(operations);
  for (const { method, path, describe } of shared) {
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: describe };
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version, license },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: token } },
      schemas: { Problem: toSchema(problemSchema) },
      responses: {
        ...Object.fromEntries(errorCodes.map((code) => [code, problemResponse(code)])),
        ...responses,
      },
    },
  };
}

/** Responses of several operations become components, named after the first of these. */
function shareResponses(operations: readonly Operation[]) {
  const names = new Map<string, string>();
  const repeated = new Map<string, Json>();
  for (const { describe } of operations) {
    for (const [status, response] of responsesOf(describe)) {
      const text = JSON.stringify(response);
      const name = names.get(text);
      if (name === undefined) names.set(text, `${String(describe.operationId)}_${status}`);
      else if (response.$ref === undefined) repeated.set(name, response);
    }
  }
  const share = (response: Json): Json => {
    const name = names.get(JSON.stringify(response))!;
    return repeated.has(name) ? { $ref: `#/components/responses/${name}` } : response;
  };
  const shared = operations.map((operation) => ({
    ...operation,
    describe: {
      ...operation.describe,
      responses: mapValues(Object.fromEntries(responsesOf(operation.describe)), share),
    },
  }));
  return { shared, responses: Object.fromEntries(repeated) };
}

function responsesOf({ responses }: Json): [status: string, Json][] {
  return Object.entries(responses as Record<string, Json>);
}

export function describeOpen({ method, path, ...route }: OpenRoute): Operation {
  const { operationId, summary, answers, schema } = route;
  const content = { 'application/json': schema === undefined ? {} : { schema: toSchema(schema) } };
  const responses = mapValues(answers, (description) => ({ description, content }));
  return { method, path, describe: { operationId, summary, security: [], responses } };
}

export const rateLimitHeaders = {
  'RateLimit-Policy': { description: 'The quotas, if any is set.', schema: { type: 'string' } },
  RateLimit: { description: 'The remaining quotas.', schema: { type: 'string' } },
};

export function toParameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
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

/**
 * By status: if several codes share one, the last counts.
 * @param content by media type; absent = problem+json.
 */
export function errorResponses(codes: readonly ErrorCode[], content?: Json): Json {
  return Object.fromEntries(
    codes.map((code) => [
      errorTable[code].httpStatus,
      content === undefined
        ? { $ref: `#/components/responses/${code}` }
        : { description: errorTable[code].title, headers: errorHeaders(code), content },
    ]),
  );
}

export const problemContent = {
  [problemType]: { schema: { $ref: '#/components/schemas/Problem' } },
};

function problemResponse(code: ErrorCode): Json {
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
    content: mapValues(problemContent, (body) => ({ ...body, example })),
  };
}

function errorHeaders(code: ErrorCode): Json {
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

export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

export function toSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Zod omits both from transformed schemas; these describe the value as sent.
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

export const receiverParameter = {
  name: 'receiverId',
  in: 'path',
  required: true,
  schema: { type: 'string' },
};
