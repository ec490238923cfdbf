/**
 * A log as Weir reads it back (`weir logs --json`, an export) to an event that can be sent again.
 * Pure. What the JSON receiver has no field for is kept as a label, or falls away because it is
 * made anew: log id, receiver, stream, the times of receipt and observation.
 */
import { fieldEntries, fieldValue } from '../../model/log-fields.ts';
import type { LogRecord } from '../../model/plan.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export function isExportedLog(object: JsonObject): object is JsonObject & Partial<LogRecord> {
  const marks = ['logId', 'timestampNanos', 'streamId', 'message'];
  return marks.every((name) => Object.hasOwn(object, name) && typeof object[name] === 'string');
}

/** @param log of which parts may be missing, as in an export of chosen columns. */
export function toEvent(log: Partial<LogRecord>): JsonObject {
  return {
    message: log.message,
    ...whereGiven('severity', log.severity),
    ...whereGiven('service_name', log.serviceName),
    ...whereGiven('service_namespace', log.serviceNamespace),
    ...whereGiven('host', log.host),
    ...whereGiven('timestamp', log.timestampNanos && toIsoNanos(log.timestampNanos)),
    ...whereGiven('trace_id', log.traceId),
    ...whereGiven('span_id', log.spanId),
    labels: toLabels(log),
  };
}

/** What the log says of itself wins over what its columns say. */
function toLabels(log: Partial<LogRecord>): JsonObject {
  return Object.fromEntries([
    ...fieldEntries.flatMap(([, { attribute, path }]) =>
      attribute === undefined ? [] : Object.entries(whereGiven(attribute, fieldValue(log, path))),
    ),
    ...Object.entries(whereGiven('otel.scope.version', log.scope?.version)),
    ...Object.entries(log.labels ?? {}),
  ]);
}

/** Absent fields read back as empty text. */
function whereGiven(name: string, value: unknown): JsonObject {
  return value === undefined || value === null || value === '' ? {} : { [name]: value };
}

/**
 * @param nanos Unix ns in decimal digits.
 * @returns RFC 3339 to the nanosecond; the text itself where it is no such number.
 */
function toIsoNanos(nanos: string): string {
  if (!/^\d{1,19}$/.test(nanos)) return nanos;
  const seconds = Number(nanos.slice(0, -9) || '0');
  const fraction = nanos.padStart(10, '0').slice(-9);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
