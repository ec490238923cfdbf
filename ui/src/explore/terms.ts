/** The terms of a query that every log must match, and changes of them. Pure. */
import {
  equalityFields,
  type FieldName,
  labelPrefix,
  logFields,
  toStoredValue,
} from '../../../src/model/log-fields.ts';
import { toKey, toTarget } from '../../../src/query/fields.ts';
import { negated, parseLogQuery, type Query, QueryError } from '../../../src/query/parse.ts';
import { printQuery } from '../../../src/query/print.ts';
import type { TextFault } from '../parts/editor/text-fault.ts';

/** A value that a field has, or has not. */
export interface Filter {
  /** Name of a field, or `label.<key>`. */
  readonly field: string;
  readonly value: string;
  readonly isExcluded: boolean;
}

export interface Term {
  readonly query: Query;
  /** Several are alternatives, or all excluded; empty = another condition. */
  readonly filters: readonly Filter[];
}

/** @returns undefined for a query that can be read */
export function faultOf(text: string): TextFault | undefined {
  const parsed = parse(text);
  return parsed instanceof QueryError ? parsed : undefined;
}

/** Terms joined by AND; none if the query cannot be read. */
export function termsOf(text: string): readonly Term[] {
  const parsed = parse(text);
  if (parsed === undefined || parsed instanceof QueryError) return [];
  const queries = parsed.kind === 'and' ? parsed.items : [parsed];
  return queries.map((query) => ({ query, filters: filtersOf(query) ?? [] }));
}

export function printTerms(terms: readonly Term[]): string {
  const [first, ...more] = terms.map(({ query }) => query);
  if (first === undefined) return '';
  return printQuery(more.length === 0 ? first : { kind: 'and', items: [first, ...more] });
}

/** The other values of the field are kept: included ones are alternatives. */
export function withFilter(text: string, filter: Filter): string {
  const terms = termsOf(withoutFilter(text, filter));
  const at = filter.isExcluded
    ? -1
    : terms.findIndex(({ filters: [first] }) => first?.field === filter.field && !first.isExcluded);
  const merged = at < 0 ? [filter] : [...terms[at]!.filters, filter];
  return printTerms(at < 0 ? [...terms, toTerm(merged)] : terms.with(at, toTerm(merged)));
}

export function withoutFilter(text: string, { field, value }: Filter): string {
  const terms = termsOf(text).flatMap((term) => {
    const others = term.filters.filter(
      (one) => one.field !== field || !isSameValue(field, one.value, value),
    );
    if (others.length === term.filters.length) return [term];
    return others.length === 0 ? [] : [toTerm(others)];
  });
  return printTerms(terms);
}

/** Adds a query as one condition, or its opposite. */
export function withCondition(text: string, added: string, isExcluded: boolean): string {
  const parsed = parse(added);
  if (parsed === undefined || parsed instanceof QueryError) return text;
  const query = isExcluded ? negated(parsed) : parsed;
  return printTerms([...termsOf(text), { query, filters: [] }]);
}

/** Severities are compared by their level, ids without case. */
export function isSameValue(field: string, left: string, right: string): boolean {
  const name = equalityFields.find((one) => one === field);
  if (name === undefined) return left === right;
  return toStoredValue(name, left) === toStoredValue(name, right);
}

/** Without the values that the field must have. */
export function withoutField(text: string, field: string): string {
  return printTerms(
    termsOf(text).filter(({ filters: [first] }) => first?.field !== field || first.isExcluded),
  );
}

export function inverted({ query }: Term): Term {
  const opposite = negated(query);
  return { query: opposite, filters: filtersOf(opposite) ?? [] };
}

export function toTerm(filters: readonly Filter[]): Term {
  const [first, ...more] = filters.map(toQuery);
  const any: Query = more.length === 0 ? first! : { kind: 'or', items: [first!, ...more] };
  return { query: filters[0]!.isExcluded ? { kind: 'not', item: any } : any, filters };
}

/** The words and phrases that messages must contain. */
export function searchedTexts(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed === undefined || parsed instanceof QueryError ? [] : textsOf(parsed);
}

function textsOf(query: Query): readonly string[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.items.flatMap(textsOf);
    case 'text':
      return query.pattern;
    case 'field': {
      const { key, test } = query;
      return test.op === 'is' && toTarget(key).kind === 'message' ? test.pattern : [];
    }
    case 'not':
      return [];
  }
}

function toQuery({ field, value }: Filter): Query {
  return { kind: 'field', key: queryKey(field), test: { op: 'is', pattern: [value] } };
}

/** @param field name of a field, or `label.<key>` */
export function queryKey(field: string): string {
  if (isFieldName(field)) return toKey({ kind: 'field', field });
  const isLabel = field.startsWith(labelPrefix);
  return toKey({ kind: 'label', key: isLabel ? field.slice(labelPrefix.length) : field });
}

function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(logFields, name);
}

function filtersOf(query: Query): readonly Filter[] | undefined {
  switch (query.kind) {
    case 'not': {
      const filters = filtersOf(query.item);
      return filters?.some(({ isExcluded }) => isExcluded)
        ? undefined
        : filters?.map((filter) => ({ ...filter, isExcluded: true }));
    }
    case 'or': {
      const all = query.items.map(filtersOf);
      const [first] = all[0] ?? [];
      const isOne = all.every(
        (filters) => filters?.length === 1 && isAlternative(filters[0]!, first),
      );
      return isOne ? all.flatMap((filters) => filters ?? []) : undefined;
    }
    case 'field': {
      const { key, test } = query;
      const target = toTarget(key);
      const isExact = test.op === 'is' && test.pattern.length === 1;
      if (!isExact || target.kind === 'message') return undefined;
      const field = target.kind === 'label' ? labelPrefix + target.key : target.field;
      return [{ field, value: test.pattern[0]!, isExcluded: false }];
    }
    default:
      return undefined;
  }
}

function isAlternative(filter: Filter, first: Filter | undefined): boolean {
  return filter.field === first?.field && !filter.isExcluded;
}

function parse(text: string): Query | QueryError | undefined {
  try {
    return parseLogQuery(text);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}
