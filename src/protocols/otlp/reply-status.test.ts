/** Error answers in both encodings, and which of them senders retry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRpcStatus } from '../../../test/protocols/google-rpc.ts';
import { type ErrorCode, errorTable, ingestErrorCodes } from '../../model/errors.ts';
import type { Problem } from '../../model/protocol.ts';
import { encodeProblem } from './reply.ts';

function toProblem(code: ErrorCode, change: Partial<Problem> = {}): Problem {
  const { httpStatus, grpcCode, title } = errorTable[code];
  return {
    status: httpStatus,
    grpcCode,
    code,
    title,
    detail: 'cannot do this',
    requestId: 'run-1',
    parameter: undefined,
    retryAfterSeconds: undefined,
    ...change,
  };
}

interface JsonStatus {
  readonly code: number;
  readonly message: string;
  readonly details?: readonly { readonly fieldViolations?: unknown }[];
}

function readJson(body: Uint8Array | string): JsonStatus {
  return JSON.parse(String(body)) as JsonStatus;
}

const message = 'cannot do this (request run-1)';

test('uses the encoding of the request, else protobuf', () => {
  for (const type of ['application/json', 'Application/JSON ; charset=utf-8']) {
    const { contentType, body } = encodeProblem(toProblem('forbidden'), type);
    assert.equal(contentType, 'application/json');
    assert.deepEqual(readJson(body), { code: 7, message });
  }
  for (const type of ['application/x-protobuf', 'text/plain', 'application/jsonl', undefined]) {
    const { contentType, body } = encodeProblem(toProblem('forbidden'), type);
    assert.equal(contentType, 'application/x-protobuf');
    assert.deepEqual(readRpcStatus(Buffer.from(body)), { code: 7, message, details: [] });
  }
});

test('names the field of a malformed request', () => {
  const problem = toProblem('malformed', { parameter: 'grpc-timeout' });
  const violations = [{ field: 'grpc-timeout', description: 'cannot do this' }];
  assert.deepEqual(readRpcStatus(Buffer.from(encodeProblem(problem, undefined).body)), {
    code: 3,
    message,
    details: [{ type: 'google.rpc.BadRequest', violations }],
  });
  assert.deepEqual(readJson(encodeProblem(problem, 'application/json').body), {
    code: 3,
    message,
    details: [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
    ],
  });
});

test('names no field for a fault of the whole body', () => {
  const { body } = encodeProblem(toProblem('malformed'), 'application/json');
  assert.deepEqual(readJson(body).details?.[0]?.fieldViolations, [
    { description: 'cannot do this' },
  ]);
});

test('retryable errors have a retry delay', () => {
  for (const [code, grpcCode] of [
    ['quota_exceeded', 8],
    ['unavailable', 14],
  ] as const) {
    const problem = toProblem(code, { retryAfterSeconds: 5 });
    const { body } = encodeProblem(problem, undefined);
    assert.deepEqual(readRpcStatus(Buffer.from(body)), {
      code: grpcCode,
      message,
      details: [{ type: 'google.rpc.RetryInfo', seconds: 5 }],
    });
    assert.deepEqual(readJson(encodeProblem(problem, 'application/json').body).details, [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '5s' },
    ]);
  }
});

/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const retried = [429, 502, 503, 504];

test('only temporary failures have a retryable status', () => {
  const mayPass: readonly ErrorCode[] = ['quota_exceeded', 'unavailable', 'timeout', 'internal'];
  for (const code of ingestErrorCodes) {
    const problem = toProblem(code);
    const { status = problem.status, retryAfterSeconds } = encodeProblem(problem, undefined);
    assert.equal(retried.includes(status), mayPass.includes(code), `${code} is ${status}`);
    assert.equal(retryAfterSeconds !== undefined, status !== problem.status, code);
  }
});

test('never answers INTERNAL or UNKNOWN', () => {
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const { body } = encodeProblem(toProblem(code), undefined);
    assert.doesNotMatch(String(readRpcStatus(Buffer.from(body)).code), /^(2|13)$/);
  }
});

test('truncates a long detail between characters', () => {
  const detail = `${'x'.repeat(1023)}\u{1f600}`;
  const { body } = encodeProblem(toProblem('forbidden', { detail }), undefined);
  const { message: cut } = readRpcStatus(Buffer.from(body));
  assert.ok(cut.isWellFormed());
  assert.ok(cut.length < 1100);
});
