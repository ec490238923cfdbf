/** Link from a log to the metrics of the same service, host or pod around its time. Pure. */
import type { Log } from '../api/models.ts';

const aroundMs = 30 * 60_000;

/** @returns undefined for a log that names none of them */
export function toMetricsOfLog(log: Log): string | undefined {
  const { serviceName, host, kubernetes } = log;
  const fields: readonly (readonly [field: string, value: string])[] = [
    ['serviceName', serviceName],
    ['host', host],
    ['k8sNamespace', kubernetes.namespace],
    ['k8sPod', kubernetes.pod],
  ];
  const named = fields.filter(([, value]) => value !== '');
  if (named.length === 0) return undefined;
  const at = Date.parse(log.timestamp);
  const parameters = new URLSearchParams(
    named.map(([field, value]) => ['of', `${field}:${value}`]),
  );
  parameters.set('from', new Date(Math.max(0, at - aroundMs)).toISOString());
  parameters.set('until', new Date(at + aroundMs).toISOString());
  return `/explore/metrics?${parameters.toString()}`;
}
