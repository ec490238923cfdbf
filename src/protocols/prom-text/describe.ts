/** The route in OpenAPI. */
import { z } from 'zod';
import type { IngestDescription } from '../../model/protocol.ts';

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

export const description: IngestDescription = {
  operationId: 'pushMetrics',
  summary: 'Push metrics as Prometheus text or OpenMetrics',
  details:
    'Accepts the text exposition format 0.0.4 (timestamps in ms) or OpenMetrics 0.0.1 and 1.0.0 ' +
    '(timestamps in seconds). A push is accepted or rejected as a whole; samples without a ' +
    'time get the time of receipt.',
  request: {
    'text/plain': { schema: exposition, examples: { counter: text } },
    'application/openmetrics-text': { schema: exposition, examples: { counter: openMetrics } },
  },
  answers: { 202: { description: 'Every sample is durable.' } },
};
