/**
 * OTLP logs (https://opentelemetry.io/docs/specs/otlp) over HTTP in JSON or protobuf, and over
 * gRPC. Each encoding yields the same rows for the same request.
 */
import { createSlicedDecoder, type Slices } from '../../codec/sliced-decoder.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits, Protocol } from '../../model/protocol.ts';
import { description } from './describe.ts';
import { toProtobuf } from './json-to-protobuf.ts';
import { LogBatch } from './log-batch.ts';
import { maxRowBytes } from './log-row.ts';
import { logsRequest } from './messages.ts';
import { grpcParts, httpParts, isJson } from './otlp-parts.ts';
import { readProtobufLogs } from './protobuf-logs.ts';
import { createReplies } from './reply.ts';
import { maxElements } from './value-text.ts';

/** The body as sent, inflated, and its rows twice while they are appended to the queue. */
const heapBytesPerBodyByte = 5;
/** Also JSON as protobuf, in a buffer that doubles if times that are no numbers take more bytes. */
const heapBytesPerHttpByte = heapBytesPerBodyByte + 2;

const replies = createReplies({ noun: 'log record', rejected: 'rejectedLogRecords' });

/** `POST …/otlp/v1/logs` */
export function createOtlpHttp({ ingest }: Config): Protocol {
  const decode = createLogsDecoder();
  return {
    ...httpParts(ingest),
    name: 'otlp_http',
    http: { path: 'otlp/v1/logs', prefix: 'otlp', description },
    heapBytesPerBodyByte: heapBytesPerHttpByte,
    decode: (body, format, { limits }) =>
      decode(body, isJson(format) ? readJsonLogs : readProtobufLogs, limits),
    reply: replies.toHttp,
  };
}

export function createOtlpGrpc({ ingest }: Config): Protocol {
  const decode = createLogsDecoder();
  return {
    ...grpcParts(ingest),
    name: 'otlp_grpc',
    grpcMethod: 'opentelemetry.proto.collector.logs.v1.LogsService/Export',
    heapBytesPerBodyByte,
    decode: (body, _format, { limits }) => decode(body, readProtobufLogs, limits),
    reply: replies.toGrpc,
  };
}

/**
 * Reads one body of one encoding.
 * @param batch started; owned by the reader until the body is done
 * @throws AppError `malformed` | `too_large`
 */
export type ReadLogs = (body: Buffer, batch: LogBatch, limits: DecodeLimits) => Slices<void>;

export type LogsDecoder = (
  body: Buffer,
  read: ReadLogs,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/** The decoder throws the errors of the reader. */
export function createLogsDecoder(): LogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new LogBatch());
  return (body, read, limits) =>
    decodeInSlices(function* (batch) {
      batch.start(body.length, limits);
      yield* read(body, batch, limits);
      return batch.finish();
    });
}

/** @param batch started */
export function* readJsonLogs(body: Buffer, batch: LogBatch, limits: DecodeLimits): Slices<void> {
  const message = yield* toProtobuf(body, logsRequest, batch.warnings, {
    maxDepth: limits.maxDepth,
    maxMessageBytes: maxRowBytes,
    maxElements,
  });
  yield* readProtobufLogs(message, batch, { ...limits, hasValidText: true });
}
