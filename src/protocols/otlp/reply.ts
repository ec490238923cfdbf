/**
 * The success answer of OTLP logs, `ExportLogsServiceResponse`, in the encoding of its request
 * (https://opentelemetry.io/docs/specs/otlp/#full-success-1 and #partial-success-1). It does not
 * know what a record may be rejected or warned for.
 */
import type { Batch } from '../../model/batch.ts';
import { bytesField, varintField } from '../../codec/protobuf-writer.ts';
import type { BodyFormat, Reply } from '../../model/protocol.ts';
import { frame } from './grpc-message.ts';

type Outcome = Pick<Batch, 'rejected' | 'rejectedCount' | 'rejectedByReason' | 'warnings'>;

/** `ExportLogsPartialSuccess`. */
interface PartialSuccess {
  /** Exact. 0 = all were taken, and the message is a warning. */
  readonly rejectedLogRecords: number;
  readonly errorMessage: string;
}

/** The Collector reads 64 KiB of an answer and takes what it cannot parse for a failure. */
const maxMessageBytes = 4096;
const jsonType = 'application/json';
const protobufType = 'application/x-protobuf';

/**
 * Over HTTP.
 * @returns 200; its content type is exactly the request's without parameters, since the Collector
 * compares it letter by letter. The body is `{}` or zero bytes where everything was taken as sent
 */
export function replyTo(batch: Outcome, format: Pick<BodyFormat, 'mediaType'>): Reply {
  const partial = toPartialSuccess(batch);
  return format.mediaType === jsonType
    ? { status: 200, contentType: jsonType, body: toJson(partial) }
    : { status: 200, contentType: protobufType, body: toProtobuf(partial) };
}

/** Over gRPC: the same message as protobuf, in its frame. */
export function replyToGrpc(batch: Outcome): Reply {
  const message = toProtobuf(toPartialSuccess(batch));
  return { status: 200, contentType: 'application/grpc', body: frame(message) };
}

function toPartialSuccess(batch: Outcome): PartialSuccess | undefined {
  const { rejectedCount, warnings } = batch;
  if (rejectedCount === 0 && (warnings === undefined || warnings.size === 0)) return undefined;
  return { rejectedLogRecords: rejectedCount, errorMessage: describe(batch) };
}

/** Counts first, as they say most in the least room; then single records while they fit. */
function describe({ rejected, rejectedCount, rejectedByReason, warnings }: Outcome): string {
  const parts: string[] = [];
  if (rejectedCount > 0) {
    const noun = rejectedCount === 1 ? 'log record' : 'log records';
    parts.push(`cannot take ${rejectedCount} ${noun}: ${toCounts(rejectedByReason)}`);
  }
  if (warnings !== undefined && warnings.size > 0) {
    parts.push(`taken, but not quite as sent: ${toCounts(warnings)}`);
  }
  for (const { index, reason } of rejected) parts.push(`record ${index}: ${reason}`);
  return joinWithin(parts, maxMessageBytes);
}

function toCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([word, count]) => `${word} (${count})`).join('; ');
}

const more = '; and more';

/** As many whole parts as fit. */
function joinWithin(parts: readonly string[], maxBytes: number): string {
  let text = '';
  for (const part of parts) {
    const longer = text === '' ? part : `${text}; ${part}`;
    if (Buffer.byteLength(longer) > maxBytes - more.length) return `${text}${more}`;
    text = longer;
  }
  return text;
}

/** The proto3 JSON mapping: 64-bit numbers are strings, zeros are left out. */
function toJson(partial: PartialSuccess | undefined): string {
  if (partial === undefined) return '{}';
  const { rejectedLogRecords, errorMessage } = partial;
  const count = rejectedLogRecords === 0 ? {} : { rejectedLogRecords: String(rejectedLogRecords) };
  return JSON.stringify({ partialSuccess: { ...count, errorMessage } });
}

function toProtobuf(partial: PartialSuccess | undefined): Uint8Array {
  if (partial === undefined) return new Uint8Array();
  const { rejectedLogRecords, errorMessage } = partial;
  const fields = [varintField(1, rejectedLogRecords), bytesField(2, errorMessage)];
  return bytesField(1, Buffer.concat(fields));
}
