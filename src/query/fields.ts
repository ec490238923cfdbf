/** The names that queries have for the fields of a log; any other key is a label. Pure. */
import type { LogTarget } from '../model/plan.ts';
import {
  fieldEntries,
  type FieldName,
  type GroupField,
  isLabelField,
  labelKeyOf,
  labelPrefix,
  logFields,
} from '../model/log-fields.ts';

export type QueryField = FieldName | 'message';

export type QueryTarget = Exclude<LogTarget, { readonly kind: 'field' }> | FieldTarget;

interface FieldTarget {
  readonly kind: 'field';
  readonly field: FieldName;
}

const fieldsByName: ReadonlyMap<string, QueryField> = new Map<string, QueryField>([
  ...fieldEntries.flatMap(([field, { flag, path, attribute, filter }]) =>
    [
      field,
      flag,
      path,
      ...(attribute === undefined ? [] : [attribute]),
      ...(filter?.facets ?? []),
    ].map((name) => [name, field] as const),
  ),
  ['level', 'severity'],
  ['message', 'message'],
  ['msg', 'message'],
]);

/** @param key as written. @returns undefined for a label */
export function findQueryField(key: string): QueryField | undefined {
  return fieldsByName.get(key);
}

/** What the key of a comparison names. */
export function toTarget(key: string): QueryTarget {
  const field = findQueryField(key);
  if (field === 'message') return { kind: 'message' };
  if (field !== undefined) return { kind: 'field', field };
  return { kind: 'label', key: isLabelField(key) ? labelKeyOf(key) : key };
}

/**
 * What a parameter names. A label whose key is a single word needs the prefix, so that a typo in
 * the name of a field is not taken for a label. @returns undefined for other names, and for the
 * message
 */
export function toGroupField(name: string): GroupField | undefined {
  const field = findQueryField(name);
  if (field !== undefined) return field === 'message' ? undefined : field;
  if (isLabelField(name)) return name;
  return separatedKey.test(name) ? `${labelPrefix}${name}` : undefined;
}

/** Not a mistyped path of a log. */
const separatedKey =
  /^(?!(?:labels?|kubernetes|scope)\.)[\p{L}\p{N}]+[._:/@-][\p{L}\p{N}._:/@-]*$/u;

export const labelForm =
  'label.<key> for a label, or its key alone where that has a dot or the like, as customer.id';

/** The shortest key that names this. */
export function toKey(target: QueryTarget): string {
  if (target.kind === 'message') return 'message';
  if (target.kind === 'field') return logFields[target.field].flag;
  const { key } = target;
  const isTaken =
    findQueryField(key) !== undefined || key === '_exists_' || key.startsWith(labelPrefix);
  return isTaken ? labelPrefix + key : key;
}
