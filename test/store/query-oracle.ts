/** The semantics of queries in plain JavaScript over one log. */
import { logFields } from '../../src/model/log-fields.ts';
import { parseSeverityNumber } from '../../src/model/severity.ts';
import { findQueryField } from '../../src/query/fields.ts';
import type { Pattern, Query, Test } from '../../src/query/parse.ts';
import { isEqual, labelsOf, type Stored } from './read-oracle.ts';

export function matchesQuery(query: Query, stored: Stored): boolean {
  switch (query.kind) {
    case 'and':
      return query.items.every((item) => matchesQuery(item, stored));
    case 'or':
      return query.items.some((item) => matchesQuery(item, stored));
    case 'not':
      return !matchesQuery(query.item, stored);
    case 'text':
      return hasWords(stored.log.body, query.pattern);
    case 'field':
      return matchesTest(query.key, query.test, stored);
  }
}

function matchesTest(key: string, test: Test, stored: Stored): boolean {
  const field = findQueryField(key);
  if (field === 'severity') return matchesSeverity(test, stored);
  if (field === 'streamId') return test.op === 'exists' || isAny(test, stored.streamId);
  if (field === 'message' && test.op === 'is') return hasWords(stored.log.body, test.pattern);
  if (field === undefined) {
    const value = labelsOf(stored.log).get(key.replace(/^label\./, ''));
    // As in facets, a log without the label has the empty value.
    if (test.op === 'is' && test.pattern.length === 1) return (value ?? '') === test.pattern[0];
    return value !== undefined && (test.op === 'exists' || isAny(test, value));
  }
  const value = field === 'message' ? stored.log.body : columnOf(field, stored);
  if (test.op === 'is' && test.pattern.length === 1) return value === test.pattern[0];
  return value !== '' && (test.op === 'exists' || isAny(test, value));
}

function columnOf(field: string, { log }: Stored): string {
  assertKnown(field);
  return log[field];
}

function assertKnown(field: string): asserts field is 'host' | 'serviceName' | 'k8sPod' {
  if (!(field in logFields)) throw new Error(`cannot compare ${field}`);
}

function matchesSeverity(test: Test, stored: Stored): boolean {
  const { severityNumber, severityText } = stored.log;
  const [only] = test.op === 'is' ? test.pattern : [];
  if (test.op === 'is' && test.pattern.length === 1) return isEqual('severity', only!, stored);
  if (test.op === 'is') {
    const upper = test.pattern.map((piece) => piece.toUpperCase());
    return severityText !== '' && toWhole(upper).test(severityText);
  }
  if (test.op === 'exists') return severityText !== '';
  if (test.op === 'regex') return severityText !== '' && isAny(test, severityText);
  const compare = (op: string, word: string) => {
    const number = parseSeverityNumber(word)!;
    // The word of a level is all of its four numbers.
    const isLevel = /^\D/.test(word) && [1, 5, 9, 13, 17, 21].includes(number);
    const isAtEnd = isLevel && (op === '>' || op === '<=');
    return severityNumber > 0 && isOrdered(op, severityNumber - number - (isAtEnd ? 3 : 0));
  };
  return eachBound(test, compare) && (severityNumber > 0 || isOpen(test, severityText));
}

const isOpen = (test: Test, value: string) =>
  test.op === 'range' && test.from === undefined && test.until === undefined && value !== '';

/** A test of a value that is there. */
function isAny(test: Test, value: string): boolean {
  if (test.op === 'is') return toWhole(test.pattern).test(value);
  if (test.op === 'regex') return new RegExp(test.regex, 'su').test(value);
  return eachBound(test, (op, bound) => {
    if (toNumber(bound) === undefined) {
      return isOrdered(op, Buffer.compare(Buffer.from(value), Buffer.from(bound)));
    }
    const number = toNumber(value);
    return number !== undefined && isOrdered(op, number - toNumber(bound)!);
  });
}

function eachBound(test: Test, compare: (op: string, value: string) => boolean): boolean {
  switch (test.op) {
    case 'range': {
      const { from, until } = test;
      return (
        (from === undefined || compare(from.isInclusive ? '>=' : '>', from.value)) &&
        (until === undefined || compare(until.isInclusive ? '<=' : '<', until.value))
      );
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compare(test.op, test.value);
    default:
      throw new Error(`cannot compare with ${test.op}`);
  }
}

function isOrdered(op: string, difference: number): boolean {
  if (difference === 0) return op.endsWith('=');
  return op.startsWith('>') === difference > 0;
}

function toNumber(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e\d+)?$/.test(text) ? Number(text) : undefined;
}

function toWhole(pattern: Pattern): RegExp {
  return new RegExp(`^${pattern.map(escaped).join('[^]*')}$`, 'u');
}

function hasWords(body: string, pattern: Pattern): boolean {
  const folded = pattern.map((piece) => escaped(lower(piece)));
  return new RegExp(folded.join('[^]*'), 'u').test(lower(body));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function lower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
