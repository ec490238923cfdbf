/**
 * Pushes of Prometheus text and OpenMetrics (SPEC §4.1). A push is accepted as a whole or rejected
 * as a whole.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { MetricWriter } from '../../codec/metric-writer.ts';
import { decodeLimits } from '../../codec/rejections.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeContext, IngestDescription, Protocol } from '../../model/protocol.ts';
import { Exposition } from './exposition.ts';
import { ClassicFamilies } from './families.ts';
import { OpenMetricsFamilies } from './openmetrics-families.ts';
import { SampleSet } from './sample-set.ts';
import { SeriesCache } from './series-cache.ts';
import { classicText, type Grammar, openMetrics, refuseAt } from './tokens.ts';

const textExample = [
  '# HELP jobs_total Jobs that were run.',
  '# TYPE jobs_total counter',
  'jobs_total{queue="mail"} 42',
  '',
].join('\n');
const openMetricsExample = [
  '# TYPE jobs counter',
  '# HELP jobs Jobs that were run.',
  'jobs_total{queue="mail"} 42 1520879607.789',
  '# EOF',
  '',
].join('\n');

const exposition = z.string();

const description: IngestDescription = {
  operationId: 'pushMetrics',
  summary: 'Push metrics as Prometheus text or OpenMetrics',
  details:
    'Accepts the text exposition format 0.0.4 (timestamps in ms) or OpenMetrics 0.0.1 and 1.0.0 ' +
    '(timestamps in seconds). A push is accepted or rejected as a whole; samples without a ' +
    'time get the time of receipt.',
  request: {
    'text/plain': { schema: exposition, examples: { counter: textExample } },
    'application/openmetrics-text': {
      schema: exposition,
      examples: { counter: openMetricsExample },
    },
  },
  answers: { 202: { description: 'Every sample is durable.' } },
};

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

export type TextFormat = 'classic' | 'openmetrics';

type PromTextDecoder = (
  body: Buffer,
  format: TextFormat,
  context: DecodeContext,
) => Batch | Promise<Batch>;

/**
 * The decoder remembers the series it has seen. It throws AppError `malformed` with line and
 * column, `too_large` for more samples or families than `maxEvents`, and `quota_exceeded` for
 * a series beyond the account's limit.
 */
export function createPromTextDecoder(labels: LabelLimits): PromTextDecoder {
  const caches = { classic: new SeriesCache(), openmetrics: new SeriesCache() };
  const decodeInSlices = createSlicedDecoder(createWorkspace);
  return (body, format, context) => {
    checkUtf8(body);
    return decodeInSlices((workspace) => {
      const parts = { ...workspace, ...toRules(format), labels, series: caches[format] };
      return new Exposition(body, parts, context).decode();
    });
  };
}

function createWorkspace() {
  const writer = new MetricWriter();
  const samples = new SampleSet();
  const clear = () => {
    writer.clear();
    samples.clear();
  };
  return { writer, samples, clear };
}

function toRules(format: TextFormat): {
  grammar: Grammar;
  rules: ClassicFamilies | OpenMetricsFamilies;
} {
  if (format === 'classic') return { grammar: classicText, rules: new ClassicFamilies() };
  return { grammar: openMetrics, rules: new OpenMetricsFamilies() };
}

/** Finds the first invalid byte: decoding replaces it by U+FFFD, which encodes differently. */
function checkUtf8(body: Buffer): void {
  if (isUtf8(body)) return;
  const read = Buffer.from(body.toString('utf8'));
  let at = 0;
  while (read[at] === body[at]) at += 1;
  refuseAt(body, at, 'the text is not valid UTF-8');
}
