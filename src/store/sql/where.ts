/**
 * The filter of logs as conditions, the same for every read. The account comes first and outermost,
 * then streams with their retention, then time, then the rest. Pure.
 */
import type {
  LabelPair,
  LogCondition,
  LogFilter,
  LogTarget,
  LogTest,
  SearchTerm,
} from '../../model/plan.ts';
import type { ColumnNames } from './log-record.ts';
import type { Parameters } from './statement.ts';
import type { TimeWindow } from './time-windows.ts';
import { type FieldName, logFields } from '../../model/log-fields.ts';
import { anyOfCondition, eitherSql, labelValueSql } from './field-sql.ts';
import { ownerConditions } from './streams.ts';

/** Every `key=value` of a row's labels. The index `labels` applies to this exact expression. */
export const labelPairs =
  "arrayMap((k, v) -> concat(k, '=', v), " +
  'arrayConcat(mapKeys(LogAttributes), mapKeys(ResourceAttributes)), ' +
  'arrayConcat(mapValues(LogAttributes), mapValues(ResourceAttributes)))';

export interface WhereOptions {
  /** Replaces the range of the filter. */
  readonly window?: TimeWindow;
  /** Columns without a value in any row; absent = unknown. */
  readonly unused?: ColumnNames;
}

/**
 * @returns conditions joined by AND, one on each line.
 */
export function whereSql(
  filter: LogFilter,
  params: Parameters,
  { window = filter, unused }: WhereOptions = {},
): string {
  const conditions = [
    ...ownerConditions('logs', filter, params),
    ...timeConditions(window, params),
    ...equalityConditions(filter.equal, params),
    ...severityConditions(filter, params),
    ...filter.labels.map((pair) => labelCondition(pair, params, unused)),
    ...filter.search.map((term) => searchCondition(term, params)),
    ...exclusionConditions(filter, params),
    ...(filter.conditions ?? []).map((condition) => conditionSql(condition, params)),
  ];
  return conditions.join('\n  AND ');
}

function timeConditions({ fromNanos, untilNanos }: TimeWindow, params: Parameters): string[] {
  return [
    ...(fromNanos === undefined ? [] : [`Timestamp >= ${params.time(fromNanos)}`]),
    ...(untilNanos === undefined ? [] : [`Timestamp < ${params.time(untilNanos)}`]),
  ];
}

function equalityConditions(equal: LogFilter['equal'], params: Parameters): string[] {
  return [...equal].map(([field, values]) => anyOfCondition(field, values, params));
}

function severityConditions({ minSeverity }: LogFilter, params: Parameters): string[] {
  return minSeverity === undefined
    ? []
    : [`SeverityNumber >= ${params.add('UInt16', minSeverity)}`];
}

/**
 * The log's own attribute hides the resource's of the same key. The hint costs nothing for each row
 * and lets the index skip granules; it cannot find rows without the key, which match "".
 */
function labelCondition(
  { key, value }: LabelPair,
  params: Parameters,
  unused?: ColumnNames,
): string {
  const pair = `${key}=${value}`;
  const hint =
    value === '' ? '' : `indexHint(has(${labelPairs}, ${params.add('String', pair)}))\n  AND `;
  return `${hint}${labelEquals({ key, value }, params, unused)}`;
}

function labelEquals({ key, value }: LabelPair, params: Parameters, unused?: ColumnNames): string {
  const k = params.add('String', key);
  const v = params.add('String', value);
  if (value === '') return `${labelValueSql(k)} = ${v}`;
  const [own, inherited] = [`LogAttributes[${k}] = ${v}`, `ResourceAttributes[${k}] = ${v}`];
  if (unused?.has('ResourceAttributes') === true) return own;
  return eitherSql(own, `NOT mapContains(LogAttributes, ${k}) AND ${inherited}`);
}

/** Without hints: an index cannot find rows that lack a value. */
function exclusionConditions({ excluded }: LogFilter, params: Parameters): string[] {
  if (excluded === undefined) return [];
  return [
    ...equalityConditions(excluded.equal, params),
    ...excluded.labels.map((pair) => labelEquals(pair, params)),
  ].map((condition) => `NOT (${condition})`);
}

/**
 * A substring of the message, in any case. A term with ASCII case only compares `lower(Body)`,
 * which has an index; other terms compare by Unicode lower case.
 */
function searchCondition(term: SearchTerm, params: Parameters): string {
  const plain = hasOnlyAsciiCase(term.text);
  const folded = plain ? lowerAscii(term.text) : term.text;
  const needle = params.add('String', `%${escapeLike(folded)}%`);
  const like = plain
    ? `lower(Body) LIKE ${needle}`
    : `${unicodeLower('Body', term.text)} LIKE ${unicodeLower(needle, term.text)}`;
  return term.exclude ? `NOT (${like})` : like;
}

/** Sigma is the only letter with two lower-case forms; both become one. */
function unicodeLower(expression: string, term: string): string {
  const lowered = `lowerUTF8(${expression})`;
  return /[Σσς]/.test(term) ? `replaceAll(${lowered}, 'ς', 'σ')` : lowered;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** As `lower` of ClickHouse does. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether no other letter of it has two cases. */
export function hasOnlyAsciiCase(text: string): boolean {
  const other = text.replace(/[\0-\x7f]/g, '');
  return other.toLowerCase() === other && other.toUpperCase() === other;
}

/** In parentheses where needed; never NULL. */
function conditionSql(condition: LogCondition, params: Parameters): string {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const items = condition.items.map((item) => conditionSql(item, params));
      return `(${items.join(condition.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `NOT (${conditionSql(condition.item, params)})`;
    case 'equal':
      return anyOfCondition(condition.field, condition.values, params);
    case 'stream':
      return condition.streamIds.length === 0
        ? '0'
        : `StreamId ${params.anyOf(condition.streamIds)}`;
    case 'label':
      return `(${labelCondition(condition.pair, params)})`;
    case 'search':
      return searchPiecesCondition(condition.pieces, params);
    case 'test':
      return testSql(condition.target, condition.test, params);
  }
}

function searchPiecesCondition(pieces: readonly string[], params: Parameters): string {
  const text = pieces.join('');
  const plain = hasOnlyAsciiCase(text);
  const folded = plain ? pieces.map(lowerAscii) : pieces;
  const needle = params.add('String', `%${folded.map(escapeLike).join('%')}%`);
  if (plain) return `lower(Body) LIKE ${needle}`;
  return `${unicodeLower('Body', text)} LIKE ${unicodeLower(needle, text)}`;
}

function testSql(target: LogTarget, test: LogTest, params: Parameters): string {
  const { value, isPresent } = targetSql(target, params);
  switch (test.op) {
    case 'exists':
      return isPresent;
    case 'like': {
      const pattern = params.add('String', test.pieces.map(escapeLike).join('%'));
      return `(${isPresent} AND ${value} LIKE ${pattern})`;
    }
    case 'regex':
      return `(${isPresent} AND match(${value}, ${params.add('String', test.regex)}))`;
    default: {
      if (typeof test.value === 'string') {
        return `(${isPresent} AND ${value} ${test.op} ${params.add('String', test.value)})`;
      }
      const number = params.add('Float64', test.value);
      if (target.kind === 'field' && target.field === 'severityNumber') {
        return `${value} ${test.op} ${number}`;
      }
      const read = `toFloat64OrNull(${value})`;
      return `ifNull(isFinite(${read}) AND ${read} ${test.op} ${number}, 0)`;
    }
  }
}

function targetSql(target: LogTarget, params: Parameters) {
  if (target.kind === 'label') {
    const key = params.add('String', target.key);
    return {
      value: labelValueSql(key),
      isPresent: eitherSql(
        `mapContains(LogAttributes, ${key})`,
        `mapContains(ResourceAttributes, ${key})`,
      ),
    };
  }
  if (target.kind === 'field' && target.field === 'severityNumber') {
    return { value: 'SeverityNumber', isPresent: 'SeverityNumber > 0' };
  }
  const value = target.kind === 'message' ? 'Body' : logFields[target.field as FieldName].column;
  return { value, isPresent: `${value} != ''` };
}
