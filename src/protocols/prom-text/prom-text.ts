/**
 * Pushes of Prometheus text and OpenMetrics as a protocol (SPEC §4.1, fourth row): taken whole and
 * answered with nothing but a status, or refused whole.
 */
import type { DecodeLimits, Protocol } from '../../model/protocol.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { createPromTextDecoder } from './decode.ts';

export interface PromTextOptions {
  readonly maxBodyBytes: number;
  /** `maxEvents` counts samples. */
  readonly limits: DecodeLimits;
  readonly labels: LabelLimits;
}

const openMetricsType = 'application/openmetrics-text';
/** What scrapers ask for and exporters answer with; names in quotes are read in any case. */
const escaping = ['allow-utf-8', 'underscores', 'dots', 'values'];
/** The body, its samples in the writer and in the set, the payload, and the queue's copy of it. */
const heapBytesPerBodyByte = 8;

export function createPromText(options: PromTextOptions): Protocol {
  const { maxBodyBytes, limits, labels } = options;
  const decode = createPromTextDecoder(labels);
  return {
    name: 'prom_text',
    kind: 'prometheus',
    mediaTypes: [
      { name: 'text/plain', parameters: { version: ['0.0.4'], escaping } },
      { name: openMetricsType, parameters: { version: ['0.0.1', '1.0.0'], escaping } },
    ],
    codings: ['identity'],
    maxBodyBytes,
    limits,
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxBodyBytes, inflated: maxBodyBytes }),
    decode: (body, { mediaType }, context) =>
      decode(body, mediaType === openMetricsType ? 'openmetrics' : 'classic', context),
    reply: () => ({ status: 202, contentType: undefined, body: '' }),
  };
}
