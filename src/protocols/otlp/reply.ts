/**
 * Answers of OTLP in the encoding of the request: `ExportLogsServiceResponse` and its like
 * (https://opentelemetry.io/docs/specs/otlp/#full-success-1, #partial-success-1) and
 * `google.rpc.Status` (#failures-1). OTLP senders retry 429, 502, 503 and 504 only, so that every
 * temporary failure has one of these statuses.
 */
import type { Batch } from '../../model/batch.ts';
import { bytesField, varintField } from '../../codec/protobuf-writer.ts';
import type { BodyFormat, EncodedProblem, Problem, Reply } from '../../model/protocol.ts';
import { frame } from './grpc-message.ts';

type Outcome = Pick<Batch, 'rejected' | 'rejectedCount' | 'rejectedByReason' | 'warnings'>;

/** What the responses of a signal call its records. */
interface Signal {
  /** Such as `log record`. */
  readonly noun: string;
  /** JSON key of the count of rejected records. */
  readonly rejected: string;
}

/** `ExportLogsPartialSuccess` and its like. */
interface PartialSuccess {
  /** 0 = all were accepted, and the message is a warning. */
  readonly rejected: number;
  readonly errorMessage: string;
}

/** The Collector reads 64 KiB of an answer and treats a truncated one as a failure. */
const maxMessageBytes = 4096;
const jsonType = 'application/json';
const protobufType = 'application/x-protobuf';

export function createReplies(signal: Signal) {
  return {
    /**
     * The success over HTTP. Its content type is exactly that of the request without parameters,
     * because the Collector compares them. The body is `{}` or empty if all was accepted as sent.
     */
    toHttp(batch: Outcome, { mediaType }: Pick<BodyFormat, 'mediaType'>): Reply {
      const partial = toPartialSuccess(batch, signal);
      return mediaType === jsonType
        ? { status: 200, contentType: jsonType, body: toJson(partial, signal) }
        : { status: 200, contentType: protobufType, body: toProtobuf(partial) };
    },
    toGrpc(batch: Outcome): Reply {
      const message = toProtobuf(toPartialSuccess(batch, signal));
      return { status: 200, contentType: 'application/grpc', body: frame(message) };
    },
  };
}

function toPartialSuccess(batch: Outcome, signal: Signal): PartialSuccess | undefined {
  const { rejectedCount, warnings } = batch;
  if (rejectedCount === 0 && (warnings === undefined || warnings.size === 0)) return undefined;
  return { rejected: rejectedCount, errorMessage: describe(batch, signal) };
}

/** Counts by reason first, then single records while they fit. */
function describe(
  { rejected, rejectedCount, rejectedByReason, warnings }: Outcome,
  { noun }: Signal,
): string {
  const parts: string[] = [];
  const word = noun.slice(noun.lastIndexOf(' ') + 1);
  if (rejectedCount > 0) {
    const nouns = rejectedCount === 1 ? noun : `${noun}s`;
    parts.push(`cannot accept ${rejectedCount} ${nouns}: ${toCounts(rejectedByReason)}`);
  }
  if (warnings !== undefined && warnings.size > 0) {
    parts.push(`accepted with changes: ${toCounts(warnings)}`);
  }
  for (const { index, reason } of rejected) parts.push(`${word} ${index}: ${reason}`);
  return joinWithin(parts, maxMessageBytes);
}

function toCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([word, count]) => `${word} (${count})`).join('; ');
}

const more = '; and more';

/** Joins as many whole parts as fit. */
function joinWithin(parts: readonly string[], maxBytes: number): string {
  let text = '';
  for (const part of parts) {
    const longer = text === '' ? part : `${text}; ${part}`;
    if (Buffer.byteLength(longer) > maxBytes - more.length) return `${text}${more}`;
    text = longer;
  }
  return text;
}

/** proto3 JSON: 64-bit numbers are strings, zeros are omitted. */
function toJson(partial: PartialSuccess | undefined, signal: Signal): string {
  if (partial === undefined) return '{}';
  const { rejected, errorMessage } = partial;
  const count = rejected === 0 ? {} : { [signal.rejected]: String(rejected) };
  return JSON.stringify({ partialSuccess: { ...count, errorMessage } });
}

function toProtobuf(partial: PartialSuccess | undefined): Uint8Array {
  if (partial === undefined) return new Uint8Array();
  const { rejected, errorMessage } = partial;
  const fields = [varintField(1, rejected), bytesField(2, errorMessage)];
  return bytesField(1, Buffer.concat(fields));
}

/** A message of `google/rpc/error_details.proto` in both encodings. */
interface Detail {
  readonly name: 'google.rpc.BadRequest' | 'google.rpc.RetryInfo';
  readonly json: object;
  readonly protobuf: Uint8Array;
}

/** gRPC status codes. Senders drop their data on INTERNAL. */
const grpcInternal = 13;
const grpcUnavailable = 14;
/** Over gRPC the message is in a header; clients accept 8 KiB of headers. */
const maxDetailLength = 1024;

/**
 * @param contentType as sent: JSON gets JSON, anything else protobuf, the fallback of senders. Over
 *   gRPC the body is the value of `grpc-status-details-bin`
 */
export function encodeProblem(problem: Problem, contentType: string | undefined): EncodedProblem {
  const code = problem.grpcCode === grpcInternal ? grpcUnavailable : problem.grpcCode;
  const detail = problem.detail.slice(0, maxDetailLength).toWellFormed();
  const message = `${detail} (request ${problem.requestId})`;
  const details = toDetails(problem, detail);
  const status = retryable(problem.status);
  if (/^\s*application\/json\s*(;|$)/i.test(contentType ?? '')) {
    return {
      ...status,
      contentType: 'application/json',
      body: toStatusJson(code, message, details),
    };
  }
  const body = toStatusProtobuf(code, message, details);
  return { ...status, contentType: 'application/x-protobuf', body };
}

/** A slow sender or an internal error may succeed on retry. */
function retryable(status: number): Pick<EncodedProblem, 'status' | 'retryAfterSeconds'> {
  return status === 408 || status === 500 ? { status: 503, retryAfterSeconds: 1 } : { status };
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

function toStatusJson(code: number, message: string, details: readonly Detail[]): string {
  const list = details.map(({ name, json }) => ({ '@type': typeUrl(name), ...json }));
  return JSON.stringify({ code, message, ...(list.length === 0 ? {} : { details: list }) });
}

function toStatusProtobuf(code: number, message: string, details: readonly Detail[]): Uint8Array {
  const list = details.map(({ name, protobuf }) =>
    bytesField(3, Buffer.concat([bytesField(1, typeUrl(name)), bytesField(2, protobuf)])),
  );
  return Buffer.concat([varintField(1, code), bytesField(2, message), ...list]);
}

/** `google.protobuf.Any` */
function typeUrl(name: Detail['name']): string {
  return `type.googleapis.com/${name}`;
}
