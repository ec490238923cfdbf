/**
 * OTLP logs (https://opentelemetry.io/docs/specs/otlp) over HTTP in JSON or protobuf, and over
 * gRPC. Each encoding yields the same rows for the same request.
 */
import { maxListedRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { BodyCaps, BodyFormat, DecodeLimits, Protocol } from '../../model/protocol.ts';
import { createLogsDecoder } from './decode.ts';
import { description } from './describe.ts';
import { frameHeadBytes, unframe } from './grpc-message.ts';
import { openJsonLogs } from './json-logs-reader.ts';
import { openProtobufLogs } from './protobuf-logs.ts';
import { encodeProblem, replyTo, replyToGrpc } from './reply.ts';

/** The body as sent, inflated, and its rows twice while they are appended to the queue. */
const heapBytesPerBodyByte = 5;

const formatAdvice =
  'set compression to gzip or none (OTEL_EXPORTER_OTLP_COMPRESSION, "compression" of the ' +
  "Collector's exporter) and the protocol to http/protobuf or http/json";

/** `POST …/otlp/v1/logs` */
export function createOtlpHttp({ ingest }: Config): Protocol {
  const { otlpMaxBodyBytes, otlpMaxProtobufBytes, otlpMaxJsonBytes } = ingest;
  const decode = createLogsDecoder();
  return {
    name: 'otlp_http',
    kind: 'otlp',
    http: { path: 'otlp/v1/logs', prefix: 'otlp', description },
    mediaTypes: [{ name: 'application/json' }, { name: 'application/x-protobuf' }],
    codings: ['identity', 'gzip'],
    formatAdvice,
    maxBodyBytes: Math.max(otlpMaxBodyBytes, otlpMaxProtobufBytes, otlpMaxJsonBytes),
    limits: toLimits(ingest),
    heapBytesPerBodyByte,
    bodyCaps: (format) =>
      toCaps(format, isJson(format) ? otlpMaxJsonBytes : otlpMaxProtobufBytes, ingest),
    decode: (body, format, { limits }) =>
      decode(body, isJson(format) ? openJsonLogs : openProtobufLogs, limits),
    reply: replyTo,
    encodeProblem,
  };
}

export function createOtlpGrpc({ ingest }: Config): Protocol {
  const { otlpMaxBodyBytes, otlpMaxProtobufBytes } = ingest;
  const decode = createLogsDecoder();
  return {
    name: 'otlp_grpc',
    kind: 'otlp',
    http: undefined,
    grpcMethod: 'opentelemetry.proto.collector.logs.v1.LogsService/Export',
    mediaTypes: [{ name: 'application/grpc' }, { name: 'application/grpc+proto' }],
    codings: ['identity', 'gzip'],
    maxBodyBytes: Math.max(otlpMaxBodyBytes, otlpMaxProtobufBytes) + frameHeadBytes,
    limits: toLimits(ingest),
    heapBytesPerBodyByte,
    bodyCaps: (format) => {
      const { travelling, inflated } = toCaps(format, otlpMaxProtobufBytes, ingest);
      return { travelling: travelling + frameHeadBytes, inflated };
    },
    unframe,
    decode: (body, _format, { limits }) => decode(body, openProtobufLogs, limits),
    reply: replyToGrpc,
    encodeProblem,
  };
}

function toLimits({ otlpMaxRecords, otlpMaxDepth }: Config['ingest']): DecodeLimits {
  const maxRejections = maxListedRejections;
  return { maxEvents: otlpMaxRecords, maxDepth: otlpMaxDepth, maxRejections };
}

function isJson(format: BodyFormat): boolean {
  return format.mediaType === 'application/json';
}

function toCaps(
  { coding }: BodyFormat,
  inflated: number,
  { otlpMaxBodyBytes }: Config['ingest'],
): BodyCaps {
  return { travelling: coding === 'identity' ? inflated : otlpMaxBodyBytes, inflated };
}
