/**
 * One meaning of a filter for list, histogram and facets alike. The account stands outermost and
 * first; then streams with what is still kept of each, then time, then the rest. Pure.
 */
import { logFields } from '../../model/log-fields.ts';
import type { LogFilter, SearchTerm } from '../../model/plan.ts';
import { labelPairs } from './columns.ts';
import type { Parameters } from './statement.ts';
import { ownerConditions } from './streams.ts';

/** @returns conditions joined by AND, one a line. */
export function whereSql(filter: LogFilter, params: Parameters): string {
  const conditions = [
    ...ownerConditions('logs', filter, params),
    ...timeConditions(filter, params),
    ...equalityConditions(filter.equal, params),
    ...filter.labels.map(({ key, value }) => labelCondition(key, value, params)),
    ...filter.search.map((term) => searchCondition(term, params)),
    ...exclusionConditions(filter, params),
  ];
  return conditions.join('\n  AND ');
}

function timeConditions(filter: LogFilter, params: Parameters): string[] {
  const conditions: string[] = [];
  if (filter.fromNanos !== undefined) {
    conditions.push(`Timestamp >= ${params.time(filter.fromNanos)}`);
  }
  if (filter.untilNanos !== undefined) {
    conditions.push(`Timestamp < ${params.time(filter.untilNanos)}`);
  }
  return conditions;
}

/** Values of any case are stored in upper case by the same rule, which spares a function a row. */
function equalityConditions(equal: LogFilter['equal'], params: Parameters): string[] {
  return [...equal].map(([field, values]) => {
    const { column, filter } = logFields[field];
    const wanted = filter.match === 'anyCase' ? values.map((value) => value.toUpperCase()) : values;
    return `${column} ${params.anyOf('String', wanted)}`;
  });
}

/**
 * The label as it is read back: the log's own attribute hides the resource's of the same key, and a
 * missing key equals nothing, not even "". The hint costs nothing a row and lets the index skip
 * what cannot match.
 */
function labelCondition(key: string, value: string, params: Parameters): string {
  const hint = `indexHint(has(${labelPairs}, ${params.add('String', `${key}=${value}`)}))`;
  return `${hint}\n  AND (${labelEquals(key, value, params)})`;
}

function labelEquals(key: string, value: string, params: Parameters): string {
  const k = params.add('String', key);
  const v = params.add('String', value);
  const own = `${present('LogAttributes', k, value)}LogAttributes[${k}] = ${v}`;
  const inherited = `${present('ResourceAttributes', k, value)}ResourceAttributes[${k}] = ${v}`;
  return `${own} OR NOT mapContains(LogAttributes, ${k}) AND ${inherited}`;
}

/** The same conditions turned around; no index can tell what lacks a value. */
function exclusionConditions({ excluded }: LogFilter, params: Parameters): string[] {
  if (excluded === undefined) return [];
  return [
    ...equalityConditions(excluded.equal, params),
    ...excluded.labels.map(({ key, value }) => labelEquals(key, value, params)),
  ].map((condition) => `NOT (${condition})`);
}

/** A missing key reads as "", so only the empty value has to be told apart from none. */
function present(map: string, key: string, value: string): string {
  return value === '' ? `mapContains(${map}, ${key}) AND ` : '';
}

/**
 * A substring of the message, without case. Terms whose letters are all ASCII (or have no case)
 * compare ASCII letters, which the index on `lower(Body)` serves; other terms compare by Unicode
 * lower case.
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

/**
 * Sigma is the one letter whose lower case depends on its neighbours: both of its forms become one.
 */
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
