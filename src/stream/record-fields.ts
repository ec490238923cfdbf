/** The parts of a log that a list requests. Pure. */
import { isLabelField, labelKeyOf, logFields, splitNames } from '../model/log-fields.ts';
import type { LogRecord } from '../model/plan.ts';
import { findQueryField, labelForm, toGroupField } from '../query/fields.ts';
import { logRecord } from './responses.ts';

export interface RecordField {
  /** In the record, such as `kubernetes.pod`. */
  readonly path: string;
  /** One of `labels`; undefined = all of the path. */
  readonly label?: string;
}

export const recordProperties = Object.keys(logRecord.shape) as readonly (keyof LogRecord)[];

export const recordFieldsForm =
  `names separated by commas: ${recordProperties.join(', ')}, a field of queries such as k8sPod, ` +
  `or ${labelForm}`;

/** @returns undefined where a name is unknown */
export function parseRecordFields(value: string): RecordField[] | undefined {
  const fields = splitNames(value).map(toRecordField);
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function toRecordField(name: string): RecordField | undefined {
  if (recordProperties.some((property) => property === name)) return { path: name };
  if (findQueryField(name) === 'message') return { path: 'message' };
  const field = toGroupField(name);
  if (field === undefined) return undefined;
  if (isLabelField(field)) return { path: 'labels', label: labelKeyOf(field) };
  return { path: logFields[field].path };
}

/** The log with its id, its time and these parts; the others are absent, against its type. */
export function pickFields(log: LogRecord, fields: readonly RecordField[] | undefined): LogRecord {
  if (fields === undefined) return log;
  const picked: Record<string, unknown> = { logId: log.logId, timestamp: log.timestamp };
  const labels = new Map<string, string>();
  for (const { path, label } of fields) {
    const [outer, inner] = path.split('.') as [keyof LogRecord, string?];
    const whole = log[outer];
    if (label !== undefined) {
      if (Object.hasOwn(log.labels, label)) labels.set(label, log.labels[label]!);
    } else if (inner === undefined) {
      picked[outer] = whole;
    } else if (picked[outer] !== whole) {
      const part = (whole as Readonly<Record<string, string>>)[inner];
      picked[outer] = { ...(picked[outer] as object | undefined), [inner]: part };
    }
  }
  const hasLabels = fields.some(({ label }) => label !== undefined);
  if (hasLabels && picked['labels'] === undefined) picked['labels'] = Object.fromEntries(labels);
  return picked as unknown as LogRecord;
}
