/**
 * OTLP requests over HTTP in both encodings, and a parser of their errors, independent of Weir's
 * code.
 */
import assert from 'node:assert/strict';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import type { Answer } from '../harness/http.ts';
import { exchangeRaw } from '../harness/raw.ts';
import type { Service } from '../harness/service.ts';
import { readRpcStatus, type RpcDetail, type RpcStatus } from '../protocols/google-rpc.ts';
import { encodeLogsRequest } from '../protocols/otlp-proto.ts';

export type Headers = Readonly<Record<string, string>>;

const log = { body: { stringValue: 'a' } };
const oneLog = { resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] };

/** A request with one log, and the body of a full success. */
export const json = {
  type: 'application/json',
  body: Buffer.from(JSON.stringify(oneLog)),
  success: '{}',
} as const;
export const protobuf = {
  type: 'application/x-protobuf',
  body: encodeLogsRequest(oneLog),
  success: '',
} as const;
export const encodings = [json, protobuf] as const;

/** URL and token of a receiver. */
export interface Address {
  readonly url: string;
  readonly token: string;
}

export async function openQuota(service: Service, eventsPerSecond: number): Promise<Address> {
  const limits = { eventsPerSecond, burstEvents: eventsPerSecond, maxBodyBytes: null };
  const { receiverId } = await createReceiver(service, { kind: 'otlp', limits });
  const { token } = await createIngestToken(service, receiverId);
  const { otlp } = service.quickstart.receivers;
  return { url: otlp.url.replace(otlp.receiverId, receiverId), token };
}

/** @param address default: the first run's receiver */
export function post(
  service: Service,
  body: string | Uint8Array,
  headers: Headers,
  { url, token }: Address = service.quickstart.receivers.otlp,
): Promise<Answer> {
  const authorization = `Bearer ${token}`;
  const sent = { authorization, ...headers };
  return service.http.send(url, { method: 'POST', headers: sent, body });
}

/** Sends a head and the `start` of its body. @returns the raw response */
export function postHead(service: Service, lines: readonly string[], start = ''): Promise<string> {
  const { url, token } = service.quickstart.receivers.otlp;
  const head = [
    `POST ${new URL(url).pathname} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    ...lines,
  ];
  return exchangeRaw(service, { send: `${head.join('\r\n')}\r\n\r\n${start}` });
}

/** A permanent error: a `google.rpc.Status` in the encoding of the request. */
export function assertRefused(
  answer: Answer,
  type: string,
  status: number,
  code: number,
): RpcStatus {
  assert.equal(answer.headers['retry-after'], undefined);
  return readStatus(answer, type, status, code);
}

/** A retryable error: with the delay in header and body. */
export function assertPutOff(
  answer: Answer,
  type: string,
  status: number,
  code: number,
): RpcStatus {
  const told = readStatus(answer, type, status, code);
  const retryAfter = answer.headers['retry-after'] ?? '';
  assert.match(retryAfter, /^[1-5]$/);
  const seconds = Number(retryAfter);
  assert.deepEqual(told.details, [{ type: 'google.rpc.RetryInfo', seconds }]);
  return told;
}

function readStatus(answer: Answer, type: string, status: number, code: number): RpcStatus {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], type);
  const told = type === json.type ? readJsonStatus(answer.text) : readRpcStatus(answer.bytes);
  assert.equal(told.code, code);
  assert.match(told.message, /^cannot .+ \(request [\w-]+\)$/);
  return told;
}

interface JsonDetail {
  readonly '@type': string;
  readonly retryDelay?: string;
  readonly fieldViolations?: readonly { field: string; description: string }[];
}

function readJsonStatus(text: string): RpcStatus {
  const status = JSON.parse(text) as { code: number; message: string; details?: JsonDetail[] };
  return { ...status, details: (status.details ?? []).map(toDetail) };
}

function toDetail({ '@type': type, retryDelay, fieldViolations = [] }: JsonDetail): RpcDetail {
  if (retryDelay === undefined) {
    assert.equal(type, 'type.googleapis.com/google.rpc.BadRequest');
    return { type: 'google.rpc.BadRequest', violations: fieldViolations };
  }
  assert.equal(type, 'type.googleapis.com/google.rpc.RetryInfo');
  return { type: 'google.rpc.RetryInfo', seconds: Number(/^(\d+)s$/.exec(retryDelay)?.[1]) };
}
