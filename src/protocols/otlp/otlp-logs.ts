/**
 * OTLP logs as protocols (https://opentelemetry.io/docs/specs/otlp): over HTTP in JSON or protobuf,
 * and over gRPC. Whatever the way, the same request is the same rows.
 */
import type { BodyCaps, BodyFormat, DecodeLimits, Protocol } from '../../model/protocol.ts';
import { createLogsDecoder } from './decode.ts';
import { frameHeadBytes, unframe } from './grpc-message.ts';
import { openJsonLogs } from './json-logs-reader.ts';
import { openProtobufLogs } from './protobuf-logs.ts';
import { replyTo, replyToGrpc } from './reply.ts';
import { encodeProblem } from './status.ts';

export interface OtlpOptions {
  /** Largest compressed body as it travels. */
  readonly maxBodyBytes: number;
  /** Largest protobuf message, inflated or sent without compression. */
  readonly maxProtobufBytes: number;
  /** Largest JSON text, inflated or sent without compression. */
  readonly maxJsonBytes: number;
  readonly limits: DecodeLimits;
}

/** A body is held once as sent, once inflated, and as rows twice while these are written. */
const heapBytesPerBodyByte = 5;

/** `POST …/otlp/v1/logs` */
export function createOtlpLogs(options: OtlpOptions): Protocol {
  const { maxBodyBytes, maxProtobufBytes, maxJsonBytes } = options;
  const decode = createLogsDecoder();
  return {
    name: 'otlp_http',
    kind: 'otlp',
    mediaTypes: [{ name: 'application/json' }, { name: 'application/x-protobuf' }],
    codings: ['identity', 'gzip'],
    maxBodyBytes: Math.max(maxBodyBytes, maxProtobufBytes, maxJsonBytes),
    limits: options.limits,
    heapBytesPerBodyByte,
    bodyCaps: (format) => toCaps(format, isJson(format) ? maxJsonBytes : maxProtobufBytes, options),
    decode: (body, format, { limits }) =>
      decode(body, isJson(format) ? openJsonLogs : openProtobufLogs, limits),
    reply: replyTo,
    encodeProblem,
  };
}

/** `opentelemetry.proto.collector.logs.v1.LogsService/Export`; the token names the receiver. */
export function createOtlpGrpc(options: OtlpOptions): Protocol {
  const { maxBodyBytes, maxProtobufBytes } = options;
  const decode = createLogsDecoder();
  return {
    name: 'otlp_grpc',
    kind: 'otlp',
    mediaTypes: [{ name: 'application/grpc' }, { name: 'application/grpc+proto' }],
    codings: ['identity', 'gzip'],
    maxBodyBytes: Math.max(maxBodyBytes, maxProtobufBytes) + frameHeadBytes,
    limits: options.limits,
    heapBytesPerBodyByte,
    bodyCaps: (format) => {
      const { travelling, inflated } = toCaps(format, maxProtobufBytes, options);
      return { travelling: travelling + frameHeadBytes, inflated };
    },
    unframe,
    decode: (body, _format, { limits }) => decode(body, openProtobufLogs, limits),
    reply: replyToGrpc,
    encodeProblem,
  };
}

function isJson(format: BodyFormat): boolean {
  return format.mediaType === 'application/json';
}

function toCaps({ coding }: BodyFormat, inflated: number, { maxBodyBytes }: OtlpOptions): BodyCaps {
  return { travelling: coding === 'identity' ? inflated : maxBodyBytes, inflated };
}
