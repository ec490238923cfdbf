/**
 * The OpenAPI 3.1 document of the ingest surface. Protocols describe their routes by hand, because
 * decoders work on bytes and have no schema; a test sends the examples.
 */
import { type ErrorCode, errorTable } from '../model/errors.ts';
import type { AnswerDescription, BodyDescription } from '../model/protocol.ts';
import {
  add,
  describeOpen,
  document,
  type DocumentInfo,
  errorHeaders,
  errorResponses,
  type Json,
  type Operations,
  rateLimitHeaders,
  toExamples,
  toSchema,
} from './openapi-parts.ts';
import type { IngestRoute, RouteTable } from './route.ts';

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

export function ingestDocument(routes: RouteTable['ingest'], info: DocumentInfo): Json {
  const paths: Operations = {};
  for (const route of routes.data) add(paths, route, describeIngest(route));
  for (const route of routes.open) add(paths, route, describeOpen(route));
  return document('Weir ingest', info, paths, 'A token bound to one receiver (`wri_…`).');
}

function describeIngest({ protocol, description }: IngestRoute): Json {
  const { operationId, summary, details, request, answers, errors, unanswered } = description;
  const codes = dataErrors.filter((code) => unanswered?.includes(code) !== true);
  const codings = protocol.codings.filter((coding) => coding !== 'identity');
  const answered = Object.entries(answers).map(([status, answer]) => [
    status,
    describeAnswer(answer),
  ]);
  return {
    operationId,
    summary,
    description: details,
    security: [{ token: ['ingest:write'] }],
    parameters: [
      { name: 'receiverId', in: 'path', required: true, schema: { type: 'string' } },
      ...(codings.length === 0 ? [] : [encodingHeader(protocol.codings, codings)]),
      idempotencyHeader,
    ],
    requestBody: { required: true, content: toContent(request) },
    responses: {
      ...(errors === undefined ? errorResponses(codes) : describeErrors(codes, errors)),
      ...Object.fromEntries(answered),
    },
  };
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description: '1 to 255 visible ASCII characters; a repeated request gets the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function encodingHeader(all: readonly string[], codings: readonly string[]): Json {
  return {
    name: 'Content-Encoding',
    in: 'header',
    required: !all.includes('identity'),
    description: `The body may be compressed: ${codings.join(' or ')}.`,
    schema: { enum: all },
  };
}

function describeAnswer({ description, headers = {}, content }: AnswerDescription): Json {
  const own = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  return {
    description,
    headers: {
      'Idempotency-Replayed': {
        description: 'true where an earlier request with this key got this answer.',
        schema: { type: 'string' },
      },
      ...rateLimitHeaders,
      ...Object.fromEntries(own),
    },
    ...(content && { content: toContent(content) }),
  };
}

function describeErrors(
  codes: readonly ErrorCode[],
  errors: Readonly<Record<string, BodyDescription>>,
): Json {
  const content = toContent(errors);
  return Object.fromEntries(
    codes.map((code) => {
      const { httpStatus, title } = errorTable[code];
      return [httpStatus, { description: title, headers: errorHeaders(code), content }];
    }),
  );
}

function toContent(bodies: Readonly<Record<string, BodyDescription>>): Json {
  return Object.fromEntries(
    Object.entries(bodies).map(([type, { schema, examples }]) => [
      type,
      {
        schema: schema === undefined ? { type: 'string' } : toSchema(schema, 'input'),
        ...(examples && { examples: toExamples(examples) }),
      },
    ]),
  );
}
