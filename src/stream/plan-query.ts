/**
 * Adds a query to a filter. What the other parameters can say becomes what they would have made of
 * it, so that indexes and counts serve both; the rest become conditions. Pure.
 */
import {
  type EqualityField,
  equalityFields,
  type FieldName,
  logFields,
} from '../model/log-fields.ts';
import type { Stream } from '../model/account.ts';
import type { LogCondition, LogFilter, LogTest } from '../model/plan.ts';
import { parseSeverityNumber } from '../model/severity.ts';
import { type QueryTarget, toTarget } from '../query/fields.ts';
import type { Pattern, Query, Test } from '../query/parse.ts';
import { decimal } from '../std/decimal.ts';

type Named = Pick<Stream, 'streamId' | 'name'>;

/** @param streams of the account, which queries may call by name */
export function withQuery(filter: LogFilter, query: Query, streams: readonly Named[]): LogFilter {
  const added = new FilterWithConditions(filter);
  added.add(toCondition(query, streams));
  return added.filter();
}

const nothing: NonNullable<LogFilter['excluded']> = { equal: new Map(), labels: [] };

class FilterWithConditions {
  #filter: LogFilter;
  readonly #conditions: LogCondition[] = [];

  constructor(filter: LogFilter) {
    this.#filter = filter;
  }

  filter(): LogFilter {
    const conditions = this.#conditions;
    return conditions.length === 0 ? this.#filter : { ...this.#filter, conditions };
  }

  add(condition: LogCondition): void {
    if (condition.kind === 'and') for (const item of condition.items) this.add(item);
    else if (!this.#addPart(condition)) this.#addOther(condition);
  }

  /** @returns whether the filter has a part for it */
  #addPart(condition: LogCondition): boolean {
    const filter = this.#filter;
    switch (condition.kind) {
      case 'equal':
        return this.#addEqual(condition.field, condition.values);
      case 'stream':
        this.#filter = withStreams(filter, (id) => condition.streamIds.includes(id));
        return true;
      case 'label':
        this.#filter = { ...filter, labels: [...filter.labels, condition.pair] };
        return true;
      case 'search':
        return this.#addSearch(condition.pieces, false);
      case 'not':
        return this.#addExclusion(condition.item);
      case 'test':
        return this.#addSeverity(condition);
      default:
        return false;
    }
  }

  #addEqual(field: EqualityField, values: readonly string[]): boolean {
    const { equal } = this.#filter;
    if (equal.has(field)) return false;
    this.#filter = { ...this.#filter, equal: new Map([...equal, [field, values]]) };
    return true;
  }

  #addSearch([text = '', ...more]: readonly string[], exclude: boolean): boolean {
    if (more.length > 0 || text === '') return text === '' && more.length === 0 && !exclude;
    const { search } = this.#filter;
    this.#filter = { ...this.#filter, search: [...search, { text, exclude }] };
    return true;
  }

  #addExclusion(item: LogCondition): boolean {
    const { equal, labels } = this.#filter.excluded ?? nothing;
    switch (item.kind) {
      case 'or':
        for (const one of item.items) this.add(toNegation(one));
        return true;
      case 'equal': {
        const values = [...new Set([...(equal.get(item.field) ?? []), ...item.values])];
        const all = new Map([...equal, [item.field, values] as const]);
        this.#filter = { ...this.#filter, excluded: { equal: all, labels } };
        return true;
      }
      case 'stream':
        this.#filter = withStreams(this.#filter, (id) => !item.streamIds.includes(id));
        return true;
      case 'label':
        this.#filter = { ...this.#filter, excluded: { equal, labels: [...labels, item.pair] } };
        return true;
      case 'search':
        return this.#addSearch(item.pieces, true);
      default:
        return false;
    }
  }

  #addSeverity({ target, test }: Extract<LogCondition, { kind: 'test' }>): boolean {
    const { minSeverity = 0 } = this.#filter;
    const isSeverity = target.kind === 'field' && target.field === 'severityNumber';
    if (!isSeverity || test.op !== '>=') return false;
    this.#filter = { ...this.#filter, minSeverity: Math.max(minSeverity, Number(test.value)) };
    return true;
  }

  /** An alternative whose items all want values of a field implies these values. */
  #addOther(condition: LogCondition): void {
    this.#conditions.push(condition);
    if (condition.kind !== 'or') return;
    for (const field of equalityFields) {
      const wanted = condition.items.map((item) => wantedValues(item, field));
      if (wanted.every((values) => values !== undefined)) {
        this.#addEqual(field, [...new Set(wanted.flat())]);
      }
    }
  }
}

function wantedValues(item: LogCondition, field: EqualityField): readonly string[] | undefined {
  const items = item.kind === 'and' ? item.items : [item];
  for (const one of items) if (one.kind === 'equal' && one.field === field) return one.values;
  return undefined;
}

function withStreams(filter: LogFilter, isWanted: (streamId: string) => boolean): LogFilter {
  return { ...filter, streams: filter.streams.filter(({ streamId }) => isWanted(streamId)) };
}

function toNegation(item: LogCondition): LogCondition {
  return item.kind === 'not' ? item.item : { kind: 'not', item };
}

function toCondition(query: Query, streams: readonly Named[]): LogCondition {
  switch (query.kind) {
    case 'and':
      return { kind: 'and', items: query.items.map((item) => toCondition(item, streams)) };
    case 'or':
      return joined(query.items.map((item) => toCondition(item, streams)));
    case 'not':
      return { kind: 'not', item: toCondition(query.item, streams) };
    case 'text':
      return { kind: 'search', pieces: query.pattern };
    case 'field':
      return toTest(query.key, query.test, streams);
  }
}

/** Values of one field are one condition. */
function joined(items: readonly LogCondition[]): LogCondition {
  const [first] = items;
  if (first?.kind === 'equal') {
    const { field } = first;
    const same = items.flatMap((item) =>
      item.kind === 'equal' && item.field === field ? item : [],
    );
    if (same.length === items.length) {
      return { kind: 'equal', field, values: [...new Set(same.flatMap(({ values }) => values))] };
    }
  }
  return { kind: 'or', items };
}

function toTest(key: string, test: Test, streams: readonly Named[]): LogCondition {
  const target = toTarget(key);
  if (target.kind === 'field' && target.field === 'streamId') return toStreams(test, streams);
  switch (test.op) {
    case 'is':
      return toMatch(target, test.pattern);
    case 'exists':
    case 'regex':
      return { kind: 'test', target, test };
    case 'range': {
      const { from, until } = test;
      const bounds = [
        ...(from ? [toComparison(target, from.isInclusive ? '>=' : '>', from.value)] : []),
        ...(until ? [toComparison(target, until.isInclusive ? '<=' : '<', until.value)] : []),
      ];
      const isOpen = bounds.length === 0;
      return isOpen
        ? { kind: 'test', target, test: { op: 'exists' } }
        : { kind: 'and', items: bounds };
    }
    default:
      return toComparison(target, test.op, test.value);
  }
}

function toMatch(target: QueryTarget, pattern: Pattern): LogCondition {
  const [only] = pattern;
  if (target.kind === 'message') return { kind: 'search', pieces: pattern };
  if (target.kind === 'label') {
    return pattern.length === 1
      ? { kind: 'label', pair: { key: target.key, value: only! } }
      : { kind: 'test', target, test: { op: 'like', pieces: pattern } };
  }
  const { field } = target;
  if (pattern.length === 1 && isEqualityField(field)) {
    return { kind: 'equal', field, values: [only!] };
  }
  const pieces = pattern.map((piece) => toStoredCase(field, piece));
  return { kind: 'test', target, test: { op: 'like', pieces } };
}

function isEqualityField(field: FieldName): field is EqualityField {
  return (equalityFields as readonly FieldName[]).includes(field);
}

/** Words of severities are stored in upper case, ids in lower case. */
function toStoredCase(field: FieldName, text: string): string {
  const definition = logFields[field];
  const match = 'filter' in definition ? definition.filter.match : 'exact';
  if (match === 'level') return text.toUpperCase();
  return match === 'hex' ? text.toLowerCase() : text;
}

function toComparison(
  target: QueryTarget,
  op: Extract<LogTest['op'], '<' | '<=' | '>' | '>='>,
  text: string,
): LogCondition {
  if (target.kind === 'field' && target.field === 'severity') {
    const number = parseSeverityNumber(text)!;
    const severity = { kind: 'field', field: 'severityNumber' } as const;
    const compare = (sign: typeof op, value: number): LogCondition => {
      return { kind: 'test', target: severity, test: { op: sign, value } };
    };
    if (op === '>') return compare('>=', lastNumber(text, number) + 1);
    if (op === '>=') return compare(op, number);
    const most = op === '<=' ? lastNumber(text, number) : number;
    return { kind: 'and', items: [compare('>=', 1), compare(op, most)] };
  }
  const number = Number(text);
  const value = decimal.test(text) && Number.isFinite(number) ? number : text;
  return { kind: 'test', target, test: { op, value } };
}

/** `error` is the whole level, as in `severity:error`; `crit` and `17` are one number. */
function lastNumber(text: string, number: number): number {
  const isLevel = !/^\d/.test(text) && number % 4 === 1;
  return isLevel ? number + 3 : number;
}

/** By id or name. */
function toStreams(test: Test, streams: readonly Named[]): LogCondition {
  const isWanted = streamTest(test);
  const wanted = streams.filter(({ streamId, name }) => isWanted(streamId) || isWanted(name));
  return { kind: 'stream', streamIds: wanted.map(({ streamId }) => streamId) };
}

function streamTest(test: Test): (name: string) => boolean {
  // The parser refuses other tests of streams.
  if (test.op !== 'is') return () => true;
  const { pattern } = test;
  return (name) => matchesPieces(name, pattern);
}

/** No regular expression, whose time could grow exponentially with the number of pieces. */
function matchesPieces(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}
