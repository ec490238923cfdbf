/** The fields of a log by the names that people choose columns with. Pure. */
import type { LogRecord } from '../../model/plan.ts';
import { showInstant, type Zone } from './instant.ts';

/** @returns the field as text; empty where the log has none. */
export type ReadField = (log: LogRecord, zone: Zone) => string;

const fields: Readonly<Record<string, ReadField>> = {
  time: (log, zone) => showInstant(log.timestamp, zone),
  timestamp: (log) => log.timestamp,
  timestampNanos: (log) => log.timestampNanos,
  observed: (log, zone) => showInstant(log.observedTimestamp, zone),
  received: (log, zone) => showInstant(log.receivedAt, zone),
  severity: (log) => log.severity,
  severityNumber: (log) => String(log.severityNumber),
  service: (log) => log.serviceName,
  namespace: (log) => log.serviceNamespace,
  host: (log) => log.host,
  message: (log) => log.message,
  event: (log) => log.eventName,
  scope: (log) => log.scope.name,
  trace: (log) => log.traceId,
  span: (log) => log.spanId,
  stream: (log) => log.streamId,
  receiver: (log) => log.receiverId,
  logId: (log) => log.logId,
  k8sCluster: (log) => log.kubernetes.cluster,
  k8sNamespace: (log) => log.kubernetes.namespace,
  k8sNode: (log) => log.kubernetes.node,
  k8sPod: (log) => log.kubernetes.pod,
  k8sContainer: (log) => log.kubernetes.container,
  k8sDeployment: (log) => log.kubernetes.deployment,
};

const labelPrefix = 'label.';

export const fieldNames: readonly string[] = [...Object.keys(fields), `${labelPrefix}<key>`];

/** @returns undefined for a name that no field has. */
export function findField(name: string): ReadField | undefined {
  if (name.startsWith(labelPrefix) && name.length > labelPrefix.length) {
    const key = name.slice(labelPrefix.length);
    return (log) => (Object.hasOwn(log.labels, key) ? (log.labels[key] ?? '') : '');
  }
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
