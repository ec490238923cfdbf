/** Logs as a preview takes them, and what a transform changes in them. Pure. */
import type { Log, TransformPreview } from '../../api/models.ts';

/** By name: columns such as `message` and `severity`, and labels. */
export type Fields = Readonly<Record<string, string>>;

/** The service takes no more in a log. */
const maxFields = 256;
const maxNameLength = 200;
const maxValueLength = 16_384;
/** Of all samples: well below a body of 1 MiB, whatever the bytes of a character. */
const maxLength = 300_000;

export function toSamples(logs: readonly Log[]): Fields[] {
  let length = 0;
  return logs.map(toFields).filter((fields) => {
    length += JSON.stringify(fields).length;
    return length <= maxLength;
  });
}

function toFields(log: Log): Fields {
  const { message, severity, host, serviceName, serviceNamespace, traceId, spanId } = log;
  const columns = {
    message,
    severity,
    host,
    service_name: serviceName,
    service_namespace: serviceNamespace,
    trace_id: traceId,
    span_id: spanId,
  };
  const labels = Object.entries(log.labels).filter(
    ([name]) => !Object.hasOwn(columns, name) && name !== '' && name.length <= maxNameLength,
  );
  return Object.fromEntries(
    [...Object.entries(columns), ...labels]
      .filter(([, value]) => value !== '')
      .slice(0, maxFields)
      .map(([name, value]) => [name, value.slice(0, maxValueLength)]),
  );
}

export interface Difference {
  readonly field: string;
  /** Undefined = the log has no such field. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ChangedSample {
  readonly message: string;
  readonly isDropped: boolean;
  /** As counted in the statistics, such as `redacted`. */
  readonly changes: readonly string[];
  readonly differences: readonly Difference[];
}

/** Without those that a transform leaves as they are. */
export function changedSamples(
  samples: readonly Fields[],
  results: TransformPreview['results'],
): ChangedSample[] {
  const all = samples.map((before, index): ChangedSample => {
    const { after, changes = [] } = results[index] ?? {};
    const isDropped = after === undefined;
    const differences = isDropped ? [] : differencesOf(before, after);
    return { message: before['message'] ?? '', isDropped, changes, differences };
  });
  return all.filter(({ changes, differences }) => changes.length > 0 || differences.length > 0);
}

function differencesOf(before: Fields, after: Fields): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .map((field) => ({ field, before: valueOf(before, field), after: valueOf(after, field) }))
    .filter((one) => one.before !== one.after);
}

/** Names come from senders: `constructor` is one too. */
function valueOf(fields: Fields, field: string): string | undefined {
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}
