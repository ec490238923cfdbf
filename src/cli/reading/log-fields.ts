/** The fields of a log by the names that people choose columns with. Pure. */
import { fieldEntries, fieldValue } from '../../model/log-fields.ts';
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
  severityNumber: (log) => String(log.severityNumber),
  message: (log) => log.message,
  logId: (log) => log.logId,
  ...Object.fromEntries(
    fieldEntries.map(([, { flag, path }]) => [
      camelCase(flag),
      (log: LogRecord) => fieldValue(log, path),
    ]),
  ),
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

/** `k8s-pod` to `k8sPod`. */
export function camelCase(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
