/** By enum number in remote_write, with the names of OpenMetrics. */
export const metricTypes = [
  'unknown',
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
] as const;

export type MetricType = (typeof metricTypes)[number];
