/** Log fields by the names that columns and filters use, with display labels. Pure. */
import { fieldEntries, isLabelField, labelPrefix } from '../../../../src/model/log-fields.ts';
import type { Log } from '../../api/models.ts';
import type { Filter } from '../terms.ts';
import { extractedField } from './extracted-fields.ts';

/** Name of a field, `label.<key>`, or the name of an extracted field. */
export type FieldName = string;

interface Field {
  readonly title: string;
  readonly read: (log: Log) => string;
}

/** In the order of the API's list, without time and message. */
const fields: Readonly<Record<string, Field>> = Object.fromEntries(
  fieldEntries.map(([name, { title, path }]) => [
    name,
    { title, read: name === 'scope' ? readScope : (log: Log) => readPath(log, path) },
  ]),
);

function readPath(log: Log, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>>)[key], log);
  return String(value);
}

function readScope({ scope }: Log): string {
  return [scope.name, scope.version].join(' ').trim();
}

/** Fields that can be columns, without labels. */
export const columnFields: readonly FieldName[] = Object.keys(fields).filter(
  (name) => name !== 'severity',
);

export function fieldTitle(name: FieldName): string {
  const { title } = fields[name] ?? extractedField(name) ?? {};
  return title ?? (isLabelField(name) ? name.slice(labelPrefix.length) : name);
}

/** Empty when the log lacks the field, or the name is unknown. */
export function fieldValue(log: Log, name: FieldName): string {
  const field = fields[name];
  if (field !== undefined) return field.read(log);
  if (!isLabelField(name)) return extractedField(name)?.read(log.message) ?? '';
  const key = name.slice(labelPrefix.length);
  return Object.hasOwn(log.labels, key) ? (log.labels[key] ?? '') : '';
}

export function isColumnName(name: FieldName): boolean {
  return isStored(name) || extractedField(name) !== undefined;
}

/** Whether the service knows the name: queries and counts can use it. */
export function isStored(name: FieldName): boolean {
  return Object.hasOwn(fields, name) || isLabelField(name);
}

export function labelName(key: string): FieldName {
  return labelPrefix + key;
}

export interface FieldRow {
  readonly name: FieldName;
  readonly title: string;
  readonly value: string;
  /** Display form of a value, if it differs. */
  readonly called?: string;
}

/** Everything except times and message: fields first, then labels by name. */
export function fieldRows(log: Log): { fields: readonly FieldRow[]; labels: readonly FieldRow[] } {
  const toRow = (name: FieldName): FieldRow => ({
    name,
    title: fieldTitle(name),
    value: fieldValue(log, name),
  });
  return {
    fields: Object.keys(fields)
      .map(toRow)
      .filter(({ value }) => value !== ''),
    labels: Object.keys(log.labels)
      .sort()
      .map((key) => toRow(labelName(key))),
  };
}

/** @returns undefined for what has no key in queries: a scope is shown with its version */
export function toFilter(name: FieldName, value: string, isExcluded: boolean): Filter | undefined {
  const isKnown = isStored(name) && name !== 'scope';
  return isKnown ? { field: name, value, isExcluded } : undefined;
}

/** Label keys of these logs, sorted; samples at most `maxLogs`, evenly spread. */
export function labelKeysOf(logs: readonly Log[], maxLogs = 500): string[] {
  const keys = new Set<string>();
  const step = Math.max(1, Math.ceil(logs.length / maxLogs));
  for (let index = 0; index < logs.length; index += step) {
    for (const key of Object.keys(logs[index]!.labels)) keys.add(key);
  }
  return [...keys].sort();
}

/** `2026-04-01 08:30:00.123456789` in the time zone of `shown`, which has milliseconds. */
export function withNanos(shown: string, timestampNanos: string): string {
  return shown + timestampNanos.padStart(9, '0').slice(-6);
}

/** Colours of severities. */
const severityTones = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type SeverityTone = (typeof severityTones)[number] | 'none';

/** OpenTelemetry severity numbers: four per level, 1 to 4 are TRACE. */
export function severityTone(severityNumber: number): SeverityTone {
  return severityTones[Math.floor((severityNumber - 1) / 4)] ?? 'none';
}
