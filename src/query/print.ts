/** The canonical text of a query: reading it gives the same syntax tree. Pure. */
import type { GroupField } from '../model/log-fields.ts';
import { toKey, toTarget } from './fields.ts';
import type { Pattern, Query, Test } from './parse.ts';

/** What needs no quotes; a slash at the beginning may begin a regular expression. */
const plainWord = /^[\p{L}\p{N}_][\p{L}\p{N}_./@-]*$/u;
const plainValue = /^[\p{L}\p{N}_.-][\p{L}\p{N}_.:/@-]*$/u;
const plainKey = /^[\p{L}_@$][\p{L}\p{N}_.@$/-]*(?<!-)$/u;
const keyword = /^(?:AND|OR|NOT|TO)$/;

export function printQuery(query: Query): string {
  switch (query.kind) {
    case 'and':
      return query.items.map((item) => printItem(item)).join(' ');
    case 'or':
      return printValues(query.items) ?? query.items.map((item) => printItem(item)).join(' OR ');
    case 'not':
      return `-${printItem(query.item)}`;
    case 'text':
      return printPattern(query.pattern, plainWord);
    case 'field':
      return printField(query.key, query.test);
  }
}

function printItem(item: Query): string {
  const isGroup = item.kind === 'and' || (item.kind === 'or' && !printValues(item.items));
  return isGroup ? `(${printQuery(item)})` : printQuery(item);
}

/** `key:(a OR b)`; undefined unless all items are values of one key. */
function printValues(items: readonly Query[]): string | undefined {
  const [first] = items;
  if (first?.kind !== 'field') return undefined;
  const values: string[] = [];
  for (const item of items) {
    if (item.kind !== 'field' || item.key !== first.key || item.test.op !== 'is') return undefined;
    values.push(printPattern(item.test.pattern, plainWord));
  }
  return `${printKey(first.key)}:(${values.join(' OR ')})`;
}

/** Finds the logs that are grouped under this value. */
export function printGroup(field: GroupField, value: string): string {
  return printField(toKey(toTarget(field)), { op: 'is', pattern: [value] });
}

/** As a value of a key, also in a list of values. */
export function printValue(value: string): string {
  return printPattern([value], plainWord);
}

export function printKey(key: string): string {
  return plainKey.test(key) && !keyword.test(key) ? key : quoted(key);
}

function printField(key: string, test: Test): string {
  const name = printKey(key);
  switch (test.op) {
    case 'is':
      return `${name}:${printPattern(test.pattern, plainValue)}`;
    case 'exists':
      return `${name}:*`;
    case 'regex':
      return `${name}:/${test.regex.replaceAll('/', '\\/')}/`;
    case 'range': {
      const { from, until } = test;
      const open = from?.isInclusive === false ? '{' : '[';
      const close = until?.isInclusive === false ? '}' : ']';
      return `${name}:${open}${printBound(from)} TO ${printBound(until)}${close}`;
    }
    default:
      return `${name}:${test.op}${printPattern([test.value], plainValue)}`;
  }
}

function printBound(bound: { readonly value: string } | undefined): string {
  return bound === undefined ? '*' : printPattern([bound.value], plainValue);
}

function printPattern(pattern: Pattern, plain: RegExp): string {
  const [only] = pattern;
  const isPlain = plain.test(only!) && !keyword.test(only!);
  if (pattern.length === 1) return isPlain ? only! : quoted(only!);
  const text = pattern.map((piece) => piece.replace(/[^\p{L}\p{N}_./@-]/gu, '\\$&')).join('*');
  return /^[-/]/.test(text) ? `\\${text}` : text;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
