/**
 * A field in statements: compared with values, and as a group. Logs whose severity has a number
 * are of its level, whatever their word; the others are grouped by the word. Pure.
 */
import {
  type EqualityField,
  type GroupField,
  isLabelField,
  labelKeyOf,
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
  const [first, second] = conditions;
  return second === undefined ? first! : eitherSql(first!, second);
}

/**
 * `a OR b` for conditions that neither the sort order nor an index can use. ClickHouse evaluates
 * an OR for each granule as well, which takes 2 ms for 2 million logs.
 */
export function eitherSql(a: string, b: string): string {
  return `if(${a}, 1, ${b})`;
}

const levelIndex = 'intDiv(SeverityNumber + 3, 4)';
const levelNames = `[${severityLevels.map((level) => `'${level}'`).join(', ')}]`;

interface GroupsSql {
  /** Expressions with the names of keys, for `withSql`. */
  readonly definitions: readonly string[];
  /** To group by. */
  readonly keys: readonly string[];
  /** Values of the groups as text; empty outside of their grouping set. */
  readonly values: readonly string[];
}

export function groupsSql(fields: readonly GroupField[], params: Parameters): GroupsSql {
  const groups = fields.map((field, i) => groupSql(field, `label${i}`, params));
  return {
    definitions: groups.flatMap(({ definition }) => definition ?? []),
    keys: groups.map(({ key }) => key),
    values: groups.map(({ key, value = `toString(${key})` }) => value),
  };
}

/** The clause before SELECT. */
export function withSql(definitions: readonly string[]): string {
  return definitions.length === 0 ? '' : `WITH ${definitions.join(',\n  ')}\n`;
}

interface GroupSql {
  readonly key: string;
  readonly definition?: string;
  /** Absent = the key as text. */
  readonly value?: string;
}

function groupSql(field: GroupField, alias: string, params: Parameters): GroupSql {
  if (field === 'severity') return severityGroup;
  if (!isLabelField(field)) return { key: logFields[field].column };
  return { key: alias, definition: `${rowValueSql(field, params)} AS ${alias}` };
}

const wordHash = 'bitShiftLeft(sipHash64(SeverityText) * (SeverityNumber = 0), 3)';

/**
 * The index of the level, or a hash of the word above all indexes. Grouping by the name of the
 * level takes twice the time.
 */
export const severityKeySql = `bitOr(${levelIndex}, ${wordHash})`;

/** The severity of a group as text. @param key of the group */
export function severityTextSql(key: string): string {
  return `multiIf(${key} = 0, '', ${key} < 8, ${levelNames}[${key}], toString(any(SeverityText)))`;
}

const severityGroup: GroupSql = {
  key: 'severityKey',
  definition: `${severityKeySql} AS severityKey`,
  value: severityTextSql('severityKey'),
};

/** The value of one row as text; empty where it has none. */
export function rowValueSql(field: GroupField, params: Parameters): string {
  if (isLabelField(field)) return labelValueSql(params.add('String', labelKeyOf(field)));
  const { column } = logFields[field];
  if (field !== 'severity') return `toString(${column})`;
  return `if(SeverityNumber = 0, toString(${column}), ${levelNames}[${levelIndex}])`;
}

/** The log's own attribute hides the resource's. @param key a placeholder */
export function labelValueSql(key: string): string {
  const [own, inherited] = ['LogAttributes', 'ResourceAttributes'];
  return `if(mapContains(${own}, ${key}), ${own}[${key}], ${inherited}[${key}])`;
}
