/**
 * Pushes of Prometheus text and OpenMetrics (SPEC §4.1). A push is accepted as a whole or rejected
 * as a whole.
 */
import { decodeLimits } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Protocol } from '../../model/protocol.ts';
import { createPromTextDecoder } from './decode.ts';
import { description } from './describe.ts';

const openMetricsType = 'application/openmetrics-text';
/** Values that scrapers request and exporters answer with. Quoted names are read with any. */
const escaping = ['allow-utf-8', 'underscores', 'dots', 'values'];
/** The body, its samples in the writer and in the set, the payload and the queue's copy of it. */
const heapBytesPerBodyByte = 8;

export function createPromText({ ingest, metrics }: Config): Protocol {
  const maxBodyBytes = ingest.promTextMaxBodyBytes;
  const decode = createPromTextDecoder(metrics);
  return {
    name: 'prom_text',
    kind: 'prometheus',
    http: { path: 'prometheus/metrics', description },
    mediaTypes: [
      { name: 'text/plain', parameters: { version: ['0.0.4'], escaping } },
      { name: openMetricsType, parameters: { version: ['0.0.1', '1.0.0'], escaping } },
    ],
    codings: ['identity'],
    maxBodyBytes,
    limits: decodeLimits(ingest.promTextMaxSamples),
    heapBytesPerBodyByte,
    decode: (body, { mediaType }, context) =>
      decode(body, mediaType === openMetricsType ? 'openmetrics' : 'classic', context),
    reply: () => ({ status: 202, contentType: undefined, body: '' }),
  };
}
