/**
 * Metrics of several processes as those of one: each value is the sum of theirs. Every level that
 * two processes have (memory in flight, series known) is one that adds up. Pure.
 */
import { AggregatorRegistry, type PrometheusContentType, type Registry } from 'prom-client';
import type { MetricsText } from './questions.ts';

export function sumOfMetrics(lists: readonly MetricsText[]): Registry {
  return AggregatorRegistry.aggregate<PrometheusContentType>([...lists]);
}

/**
 * What a process that is gone leaves behind: what it has counted stays counted, or rates over the
 * sum would see it begin anew; its levels go with it.
 */
export function withoutLevels(metrics: MetricsText): MetricsText {
  return metrics.filter((metric) => 'type' in metric && metric.type !== 'gauge');
}
