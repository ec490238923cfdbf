/** The two ways in of Prometheus, text push and remote_write, in the words of OpenAPI. */
import { z } from 'zod';
import type { IngestDescription } from './openapi-ingest.ts';

const text = [
  '# HELP jobs_total Jobs that were run.',
  '# TYPE jobs_total counter',
  'jobs_total{queue="mail"} 42',
  '',
].join('\n');
const openMetrics = [
  '# TYPE jobs counter',
  '# HELP jobs Jobs that were run.',
  'jobs_total{queue="mail"} 42 1520879607.789',
  '# EOF',
  '',
].join('\n');

const exposition = z.string();

export const promTextDescription: IngestDescription = {
  operationId: 'pushMetrics',
  summary: 'Push metrics as Prometheus text or OpenMetrics',
  details:
    'Takes the text exposition format 0.0.4 (timestamps in ms) or OpenMetrics 0.0.1 and 1.0.0 ' +
    '(timestamps in seconds). A push is taken as a whole or not at all; samples without a time ' +
    'get one time of receipt.',
  request: {
    'text/plain': { schema: exposition, examples: { counter: text } },
    'application/openmetrics-text': { schema: exposition, examples: { counter: openMetrics } },
  },
  answers: { 202: { description: 'Every sample is durable.' } },
};

export const remoteWriteDescription: IngestDescription = {
  operationId: 'remoteWrite',
  summary: 'Send samples by Prometheus remote_write 1.0',
  details:
    'Takes a `prometheus.WriteRequest`, compressed as one snappy block ' +
    '(https://prometheus.io/docs/specs/prw/remote_write_spec/). Where some samples cannot be ' +
    'taken, the others are stored all the same and the answer is 400. The same samples may be ' +
    'sent again: the last one written at a time counts.',
  request: {
    'application/x-protobuf': {
      schema: z.string().meta({
        description: 'prometheus.WriteRequest, snappy block format',
        contentMediaType: 'application/x-protobuf',
      }),
    },
  },
  answers: {
    204: {
      description: 'Everything is durable.',
      headers: {
        'X-Prometheus-Remote-Write-Samples-Written': 'Samples taken.',
        'X-Prometheus-Remote-Write-Histograms-Written': 'Native histograms taken.',
        'X-Prometheus-Remote-Write-Exemplars-Written': 'Exemplars taken.',
      },
    },
  },
};
