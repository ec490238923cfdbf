/** The routes of protocols in OpenAPI. */
import type { ErrorCode } from '../model/errors.ts';
import type { AnswerDescription, BodyDescription, IngestDescription } from '../model/protocol.ts';
import { type HttpProtocol, methodsOf, receiverUrl } from './ingest-surface.ts';
import {
  errorResponses,
  type Json,
  mapValues,
  type Operation,
  problemContent,
  rateLimitHeaders,
  receiverParameter,
  requestBodyErrors,
  toSchema,
} from './openapi-parts.ts';

const dataErrors: readonly ErrorCode[] = [
  'malformed',
  'unauthenticated',
  'forbidden',
  'not_found',
  ...requestBodyErrors,
  'quota_exceeded',
  'internal',
  'unavailable',
];

export function describeIngest({ http, codings }: HttpProtocol): Operation[] {
  const { operationId, summary, details, request, answers, errors, unanswered } = http.description;
  const codes = dataErrors.filter((code) => unanswered?.includes(code) !== true);
  const headers = [...encodingHeaders(codings), idempotencyHeader];
  const describe = {
    operationId,
    summary,
    description: details,
    security: [{ token: ['ingest:write'] }],
    requestBody: { required: true, content: mapValues(request, describeBody) },
    responses: {
      ...errorResponses(codes, errors && mapValues(errors, describeBody)),
      ...describeAnswers(answers),
    },
  };
  const { path, otherPaths = [], tokenPaths = [] } = http;
  const eachOf = (paths: readonly string[]) =>
    paths.flatMap((one, index) => methodsOf(http).map((method) => ({ one, index, method })));
  const below = eachOf([path, ...otherPaths]).map(({ one, index, method }) => ({
    method,
    path: `${receiverUrl}/${one}`,
    describe: {
      ...describe,
      operationId: idOf(operationId, method, index),
      parameters: [receiverParameter, ...pathParameters(one), ...headers],
    },
  }));
  const byToken = eachOf(tokenPaths).map(({ one, index, method }) => ({
    method,
    path: one,
    describe: {
      ...describe,
      operationId: idOf(`${operationId}ByToken`, method, index),
      summary: `${summary}; the token names the receiver`,
      parameters: [...pathParameters(one), ...headers],
    },
  }));
  return [...below, ...byToken];
}

function idOf(operationId: string, method: string, index: number): string {
  const id = method === 'POST' ? operationId : `${operationId}ByPut`;
  return index === 0 ? id : `${id}${index + 1}`;
}

function pathParameters(path: string): Json[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description: '1 to 255 visible ASCII characters; a repeated request gets the first response.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function encodingHeaders(codings: readonly string[]): Json[] {
  const compressed = codings.filter((coding) => coding !== 'identity');
  if (compressed.length === 0) return [];
  return [
    {
      name: 'Content-Encoding',
      in: 'header',
      required: !codings.includes('identity'),
      description: `The body may be compressed: ${compressed.join(' or ')}.`,
      schema: { enum: codings },
    },
  ];
}

function describeAnswers(answers: IngestDescription['answers']): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const described = describeAnswer(answer);
      if (status < '400') return [status, described];
      // Beside errors of that status in the usual format.
      return [status, { ...described, content: { ...problemContent, ...described.content } }];
    }),
  );
}

function describeAnswer({ description, headers = {}, content }: AnswerDescription) {
  const string = { type: 'string' };
  return {
    description,
    headers: {
      'Idempotency-Replayed': {
        description: 'true if this is the response to an earlier request with this key.',
        schema: string,
      },
      ...rateLimitHeaders,
      ...mapValues(headers, (text) => ({ description: text, schema: string })),
    },
    ...(content && { content: mapValues(content, describeBody) }),
  };
}

function describeBody({ schema, examples }: BodyDescription): Json {
  return {
    schema: schema === undefined ? { type: 'string' } : toSchema(schema, 'input'),
    ...(examples && { examples: mapValues(examples, (value) => ({ value })) }),
  };
}
