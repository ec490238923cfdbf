/** Generates valid requests of OTLP metrics. */
import fc from 'fast-check';
import type { Random } from '../harness/random.ts';
import type { MetricsRequest } from '../protocols/otlp-metrics.ts';
import { allTemporalities, metricsRequests } from '../protocols/random-otlp-metrics.ts';

const requests = metricsRequests(allTemporalities);

/** @param records approximate maximum of data points */
export function otlpMetrics(random: Random, records: number): MetricsRequest {
  const size = Math.ceil(records / 40);
  const parts = fc.sample(requests, { seed: random.integer(0, 2 ** 31 - 1), numRuns: size });
  return { resourceMetrics: parts.flatMap(({ resourceMetrics }) => resourceMetrics) };
}
