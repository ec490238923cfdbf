/**
 * The filter of logs as conditions, the same for every read. The account comes first and outermost,
 * then streams with their retention, then time, then the rest. Pure.
 */
import type { LogFilter, SearchTerm } from '../../model/plan.ts';
import type { Parameters } from './statement.ts';
import type { TimeWindow } from './time-windows.ts';
import { anyOfCondition } from './field-sql.ts';
import { ownerConditions } from './streams.ts';

/** Every `key=value` of a row's labels. The index `labels` applies to this exact expression. */
export const labelPairs =
  "arrayMap((k, v) -> concat(k, '=', v), " +
  'arrayConcat(mapKeys(LogAttributes), mapKeys(ResourceAttributes)), ' +
  'arrayConcat(mapValues(LogAttributes), mapValues(ResourceAttributes)))';

/**
 * @param window replaces the range of the filter.
 * @returns conditions joined by AND, one on each line.
 */
export function whereSql(
  filter: LogFilter,
  params: Parameters,
  window: TimeWindow = filter,
): string {
  const conditions = [
    ...ownerConditions('logs', filter, params),
    ...timeConditions(window, params),
    ...equalityConditions(filter.equal, params),
    ...severityConditions(filter, params),
    ...filter.labels.map(({ key, value }) => labelCondition(key, value, params)),
    ...filter.search.map((term) => searchCondition(term, params)),
    ...exclusionConditions(filter, params),
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
 * The log's own attribute hides the resource's of the same key; a missing key does not equal "".
 * The hint costs nothing for each row and lets the index skip granules.
 */
function labelCondition(key: string, value: string, params: Parameters): string {
  const hint = `indexHint(has(${labelPairs}, ${params.add('String', `${key}=${value}`)}))`;
  return `${hint}\n  AND (${labelEquals(key, value, params)})`;
}

function labelEquals(key: string, value: string, params: Parameters): string {
  const k = params.add('String', key);
  const v = params.add('String', value);
  const equals = (map: string) => `${presenceCheck(map, k, value)}${map}[${k}] = ${v}`;
  const own = equals('LogAttributes');
  const inherited = equals('ResourceAttributes');
  return `${own} OR NOT mapContains(LogAttributes, ${k}) AND ${inherited}`;
}

/** Without hints: an index cannot find rows that lack a value. */
function exclusionConditions({ excluded }: LogFilter, params: Parameters): string[] {
  if (excluded === undefined) return [];
  return [
    ...equalityConditions(excluded.equal, params),
    ...excluded.labels.map(({ key, value }) => labelEquals(key, value, params)),
  ].map((condition) => `NOT (${condition})`);
}

/** A missing key reads as "", so only the empty value needs a check for the key. */
function presenceCheck(map: string, key: string, value: string): string {
  return value === '' ? `mapContains(${map}, ${key}) AND ` : '';
}

/**
 * A substring of the message, in any case. A term with ASCII case only compares `lower(Body)`,
 * which has an index; other terms compare by Unicode lower case.
 */
function searchCondition(term: SearchTerm, params: Parameters): string {
  const plain = hasOnlyAsciiCase(term.text);
  const folded = plain ? lowerAscii(term.text) : term.text;
  const needle = params.add('String', `%${folded.replace(/[\\%_]/g, '\\$&')}%`);
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

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function hasOnlyAsciiCase(text: string): boolean {
  const other = text.replace(/[\0-\x7f]/g, '');
  return other.toLowerCase() === other && other.toUpperCase() === other;
}
