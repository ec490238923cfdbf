/** A log as the steps of a transform see it: text fields by name. */

export interface TransformEvent {
  /** @returns undefined if the field is absent or empty */
  get(field: string): string | undefined;
  /** An empty value removes the field. */
  set(field: string, value: string): void;
  remove(field: string): void;
  /** Number of labels. */
  labels(): number;
  /** The message and the labels of every kind. */
  eachText(change: (value: string, label: string | undefined) => string): void;
}

/** Names of the fields with a column, by the name of its column in a row. */
export const columnFields = {
  message: 'body',
  severity: 'severityText',
  service_name: 'serviceName',
  service_namespace: 'serviceNamespace',
  host: 'host',
  trace_id: 'traceId',
  span_id: 'spanId',
} as const;

export type ColumnField = keyof typeof columnFields;

export function isColumn(field: string): field is ColumnField {
  return Object.hasOwn(columnFields, field);
}

/** Whether a column can hold the value; otherwise it becomes a label. */
export function fits(field: ColumnField, value: string): boolean {
  if (field === 'trace_id') return /^(?:[0-9a-f]{32})?$/i.test(value);
  if (field === 'span_id') return /^(?:[0-9a-f]{16})?$/i.test(value);
  return true;
}
