/**
 * A field in statements: compared with values, and as a group. Logs whose severity has a number
 * are of its level, whatever their word; the others are grouped by the word. Pure.
 */
import {
  type EqualityField,
  type FilterField,
  logFields,
  toStoredValue,
} from '../../model/log-fields.ts';
import { levelNumbers, severityLevels } from '../../model/severity.ts';
import type { Parameters } from './statement.ts';

/** Values match in their stored form, so no function is called for each row. */
export function anyOfCondition(
  field: EqualityField,
  values: readonly string[],
  params: Parameters,
): string {
  const { column, filter } = logFields[field];
  const stored = [...new Set(values.map((value) => toStoredValue(field, value)))];
  if (filter.match !== 'level') return `${column} ${params.anyOf(stored)}`;
  const numbers = stored.flatMap(levelNumbers);
  const words = stored.filter((word) => levelNumbers(word).length === 0);
  const conditions = [
    ...(numbers.length === 0 ? [] : [`SeverityNumber IN ${params.integers(numbers)}`]),
    ...(words.length === 0 ? [] : [`${column} ${params.anyOf(words)}`]),
  ];
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(' OR ')})`;
}

const levelIndex = 'intDiv(SeverityNumber + 3, 4)';
const levelNames = `[${severityLevels.map((level) => `'${level}'`).join(', ')}]`;

/**
 * Defines the key of severity for `groupKeySql`: the index of the level, or a hash of the word
 * above all indexes. Grouping by the name of the level takes twice the time.
 */
export function groupKeysSql(fields: readonly FilterField[]): string {
  if (!fields.includes('severity')) return '';
  const wordKey = 'bitShiftLeft(sipHash64(SeverityText) * (SeverityNumber = 0), 3)';
  return `WITH bitOr(${levelIndex}, ${wordKey}) AS severityKey\n`;
}

export function groupKeySql(field: FilterField): string {
  return field === 'severity' ? 'severityKey' : logFields[field].column;
}

/** The value of a group by `groupKeySql`; empty outside of its grouping set. */
export function groupValueSql(field: FilterField): string {
  const key = groupKeySql(field);
  if (field !== 'severity') return `toString(${key})`;
  return `multiIf(${key} = 0, '', ${key} < 8, ${levelNames}[${key}], toString(any(SeverityText)))`;
}

/** The value of one row. */
export function rowValueSql(field: EqualityField): string {
  const { column } = logFields[field];
  if (field !== 'severity') return `toString(${column})`;
  return `if(SeverityNumber = 0, toString(${column}), ${levelNames}[${levelIndex}])`;
}
