/** Makes every wire protocol from the configuration. It opens nothing. */
import type { Config } from '../config/schema.ts';
import type { DecodeLimits } from '../model/protocol.ts';
import type { LabelLimits } from '../codec/series-labels.ts';
import { createJsonLogs } from '../protocols/json-logs/json-logs.ts';
import { createOtlpGrpc, createOtlpLogs } from '../protocols/otlp/otlp-logs.ts';
import { createPromText } from '../protocols/prom-text/prom-text.ts';
import { createRemoteWrite } from '../protocols/remote-write/remote-write.ts';
import type { Protocols } from '../server/routes.ts';

/** Rejections listed in one answer. */
const maxRejections = 100;
/** Of formats that do not nest. */
const maxDepth = 1;

export function toProtocols({ ingest, metrics }: Config): Protocols {
  const otlp = {
    maxBodyBytes: ingest.otlpMaxBodyBytes,
    maxProtobufBytes: ingest.otlpMaxProtobufBytes,
    maxJsonBytes: ingest.otlpMaxJsonBytes,
    limits: { maxEvents: ingest.otlpMaxRecords, maxDepth: ingest.otlpMaxDepth, maxRejections },
  };
  const labels: LabelLimits = {
    maxLabels: metrics.maxLabels,
    maxNameLength: metrics.maxLabelNameLength,
    maxValueLength: metrics.maxLabelValueLength,
  };
  return {
    jsonLogs: createJsonLogs({
      maxBodyBytes: ingest.jsonMaxBodyBytes,
      limits: { maxEvents: ingest.jsonMaxEvents, maxDepth: ingest.jsonMaxDepth, maxRejections },
    }),
    otlpLogs: createOtlpLogs(otlp),
    otlpGrpc: createOtlpGrpc(otlp),
    promText: createPromText({
      maxBodyBytes: ingest.promTextMaxBodyBytes,
      limits: ofSamples(ingest.promTextMaxSamples),
      labels,
    }),
    remoteWrite: createRemoteWrite({
      maxBodyBytes: ingest.remoteWriteMaxBodyBytes,
      maxInflatedBytes: ingest.remoteWriteMaxInflatedBytes,
      limits: ofSamples(ingest.remoteWriteMaxSamples),
      labels,
    }),
  };
}

function ofSamples(maxEvents: number): DecodeLimits {
  return { maxEvents, maxDepth, maxRejections };
}
