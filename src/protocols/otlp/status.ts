/**
 * Failed OTLP requests as `google.rpc.Status`, in the encoding of their request
 * (https://opentelemetry.io/docs/specs/otlp/#failures-1). Its senders repeat a request after 429,
 * 502, 503 and 504 alone, so nothing that may pass goes by another status.
 */
import { bytesField, varintField } from '../../codec/protobuf-writer.ts';
import type { EncodedProblem, Problem } from '../../model/protocol.ts';

/** A message of `google/rpc/error_details.proto` in both encodings. */
interface Detail {
  readonly name: 'google.rpc.BadRequest' | 'google.rpc.RetryInfo';
  readonly json: object;
  readonly protobuf: Uint8Array;
}

/** gRPC's own numbers; INTERNAL tells a sender to drop what it holds. */
const grpcInternal = 13;
const grpcUnavailable = 14;
/** In gRPC it travels in a header, and clients take 8 KiB of those. */
const maxMessageLength = 1024;

/**
 * @param contentType as sent: JSON where it says so, else protobuf, which is what senders fall
 *   back to. Over gRPC the body is what `grpc-status-details-bin` carries
 */
export function encodeProblem(problem: Problem, contentType: string | undefined): EncodedProblem {
  const code = problem.grpcCode === grpcInternal ? grpcUnavailable : problem.grpcCode;
  const detail = problem.detail.slice(0, maxMessageLength).toWellFormed();
  const message = `${detail} (request ${problem.requestId})`;
  const details = toDetails(problem, detail);
  const status = toStatus(problem.status);
  if (isJson(contentType)) {
    return { ...status, contentType: 'application/json', body: toJson(code, message, details) };
  }
  const body = toProtobuf(code, message, details);
  return { ...status, contentType: 'application/x-protobuf', body };
}

/** A sender too slow, or a fault of ours, may do better next time. */
function toStatus(status: number): Pick<EncodedProblem, 'status' | 'retryAfterSeconds'> {
  return status === 408 || status === 500 ? { status: 503, retryAfterSeconds: 1 } : { status };
}

function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(contentType ?? '');
}

function toDetails(problem: Problem, detail: string): Detail[] {
  const details: Detail[] = [];
  if (problem.status === 400) details.push(toBadRequest(problem.parameter ?? '', detail));
  if (problem.retryAfterSeconds !== undefined) {
    details.push(toRetryInfo(problem.retryAfterSeconds));
  }
  return details;
}

function toBadRequest(field: string, description: string): Detail {
  const violation = Buffer.concat([
    ...(field === '' ? [] : [bytesField(1, field)]),
    bytesField(2, description),
  ]);
  return {
    name: 'google.rpc.BadRequest',
    json: { fieldViolations: [{ ...(field === '' ? {} : { field }), description }] },
    protobuf: bytesField(1, violation),
  };
}

function toRetryInfo(seconds: number): Detail {
  return {
    name: 'google.rpc.RetryInfo',
    json: { retryDelay: `${seconds}s` },
    protobuf: bytesField(1, varintField(1, seconds)),
  };
}

function toJson(code: number, message: string, details: readonly Detail[]): string {
  const list = details.map(({ name, json }) => ({ '@type': typeUrl(name), ...json }));
  return JSON.stringify({ code, message, ...(list.length === 0 ? {} : { details: list }) });
}

function toProtobuf(code: number, message: string, details: readonly Detail[]): Uint8Array {
  const list = details.map(({ name, protobuf }) =>
    bytesField(3, Buffer.concat([bytesField(1, typeUrl(name)), bytesField(2, protobuf)])),
  );
  return Buffer.concat([varintField(1, code), bytesField(2, message), ...list]);
}

/** `google.protobuf.Any` */
function typeUrl(name: Detail['name']): string {
  return `type.googleapis.com/${name}`;
}
