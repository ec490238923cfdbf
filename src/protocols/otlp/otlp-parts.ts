/** What the protocols of all signals of OTLP have in common, over HTTP and over gRPC. */
import { decodeLimits } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { BodyCaps, BodyFormat, Protocol } from '../../model/protocol.ts';
import { frameHeadBytes, unframe } from './grpc-message.ts';
import { encodeProblem } from './reply.ts';

type Shared<Key extends keyof Protocol> = Required<Pick<Protocol, Key>>;

type Parts = Shared<
  | 'kind'
  | 'mediaTypes'
  | 'codings'
  | 'formatAdvice'
  | 'maxBodyBytes'
  | 'limits'
  | 'bodyCaps'
  | 'encodeProblem'
>;

const compressionAdvice =
  'set compression to gzip or none (OTEL_EXPORTER_OTLP_COMPRESSION, "compression" of the ' +
  "Collector's exporter)";

export function httpParts(ingest: Config['ingest']): Parts {
  const { otlpMaxBodyBytes, otlpMaxProtobufBytes, otlpMaxJsonBytes } = ingest;
  return {
    kind: 'otlp',
    mediaTypes: [{ name: 'application/json' }, { name: 'application/x-protobuf' }],
    codings: ['identity', 'gzip'],
    formatAdvice: `${compressionAdvice} and the protocol to http/protobuf or http/json`,
    maxBodyBytes: Math.max(otlpMaxBodyBytes, otlpMaxProtobufBytes, otlpMaxJsonBytes),
    limits: decodeLimits(ingest.otlpMaxRecords, ingest.otlpMaxDepth),
    bodyCaps: (format) =>
      toCaps(format, isJson(format) ? otlpMaxJsonBytes : otlpMaxProtobufBytes, ingest),
    encodeProblem,
  };
}

export function grpcParts(
  ingest: Config['ingest'],
): Parts & Shared<'unframe'> & { http: undefined } {
  const { otlpMaxBodyBytes, otlpMaxProtobufBytes } = ingest;
  return {
    kind: 'otlp',
    http: undefined,
    mediaTypes: [{ name: 'application/grpc' }, { name: 'application/grpc+proto' }],
    codings: ['identity', 'gzip'],
    formatAdvice: compressionAdvice,
    maxBodyBytes: Math.max(otlpMaxBodyBytes, otlpMaxProtobufBytes) + frameHeadBytes,
    limits: decodeLimits(ingest.otlpMaxRecords, ingest.otlpMaxDepth),
    bodyCaps: (format) => {
      const { wireBytes, inflatedBytes } = toCaps(format, otlpMaxProtobufBytes, ingest);
      return { wireBytes: wireBytes + frameHeadBytes, inflatedBytes };
    },
    unframe,
    encodeProblem,
  };
}

export function isJson(format: Pick<BodyFormat, 'mediaType'>): boolean {
  return format.mediaType === 'application/json';
}

function toCaps(
  { coding }: BodyFormat,
  inflatedBytes: number,
  { otlpMaxBodyBytes }: Config['ingest'],
): BodyCaps {
  return { wireBytes: coding === 'identity' ? inflatedBytes : otlpMaxBodyBytes, inflatedBytes };
}
