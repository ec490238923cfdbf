/** A template as text, as a query, and with the values of its variables. Pure. */
import type { Query } from '../query/parse.ts';
import { printQuery } from '../query/print.ts';
import type { Column, MaskedMessage, Template } from './mine.ts';
import { blanks, marks, mask, tokensOf, variableRun } from './tokens.ts';
import { Turns } from './turns.ts';

/** Logs whose messages are one masked text. */
export interface MessageGroup extends MaskedMessage {
  /** Some of the messages, not empty, cut at `maxMessageLength`. */
  readonly texts: readonly string[];
}

export interface Description {
  /** Each variable as `<name>`. */
  readonly text: string;
  /** Finds the messages; in the query language. */
  readonly query: string;
  readonly variables: readonly Variable[];
}

export interface Variable {
  /** Unique in the template. */
  readonly name: string;
  /** The most frequent of the values that were looked at, with their estimated share. */
  readonly values: readonly { readonly value: string; readonly share: number }[];
  /** How many values were seen. */
  readonly distinct: number;
}

/** Characters of a message that are looked at. */
export const maxMessageLength = 500;

const maxValues = 5;
const maxPhraseLength = 100;
const minPhraseLength = 3;
const runPattern = new RegExp(variableRun, 'g');

export async function describe(
  template: Template,
  groups: readonly MessageGroup[],
): Promise<Description> {
  const turns = new Turns();
  const { columns, members } = template;
  const values = new Map(
    columns.flatMap(({ isVariable }, column) =>
      isVariable ? [[column, new Map<string, number>()] as const] : [],
    ),
  );
  let isCut = false;
  for (const member of members) {
    const { masked, texts, count } = groups[member]!;
    const tokens = tokensOf(masked);
    for (const text of texts) {
      isCut ||= Array.from(text).length >= maxMessageLength;
      const runs = text.match(runPattern)?.values();
      for (const [column, token] of tokens.entries()) {
        const value = token.text.replaceAll(mask, () => runs?.next().value ?? mask);
        const seen = values.get(column);
        seen?.set(value, (seen.get(value) ?? 0) + count / texts.length);
      }
      if (turns.isOver(tokens.length)) await turns.next();
    }
  }
  const names = new Names();
  const named = new Map(
    [...values].map(([column, seen]) => [column, names.add(nameOf(columns, column, seen))]),
  );
  const text = columns.map((column, i) => {
    const name = named.get(i);
    return name === undefined ? textOf(column) : `<${name}>`;
  });
  return {
    text: `${text.join('')}${isCut ? '…' : ''}`,
    query: printQuery(queryOf(columns, isCut)),
    variables: [...values].map(([column, seen]) => toVariable(named.get(column)!, seen)),
  };
}

function textOf({ texts }: Column): string {
  return texts.size === 1 ? texts.values().next().value! : ' ';
}

function toVariable(name: string, seen: ReadonlyMap<string, number>): Variable {
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0);
  const values = [...seen]
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxValues)
    .map(([value, count]) => ({ value, share: count / total }));
  return { name, values, distinct: seen.size };
}

class Names {
  readonly #counts = new Map<string, number>();

  add(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : this.add(`${name}${count}`);
  }
}

/** The key before `=` or `:`, else what the values are. */
function nameOf(
  columns: readonly Column[],
  column: number,
  seen: ReadonlyMap<string, number>,
): string {
  const before = columns
    .slice(Math.max(0, column - 6), column)
    .map((one) => (one.isVariable ? '\0' : textOf(one)))
    .join('');
  const key = /([A-Za-z_][\w.-]*)["']?(?:=|: ?)["']?$/.exec(before)?.[1];
  return key ?? kindOf([...seen.keys()]);
}

const kinds: readonly (readonly [name: string, form: RegExp])[] = [
  ['number', /^[-+]?[\d,]+(?:\.\d+)?%?$/],
  ['uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ['ip', /^\/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?$/],
  ['time', /^(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d|[A-Z][a-z]{2},? )[\d\sT:.,+-]*Z?/],
  ['duration', /^\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h)$/],
  ['size', /^\d+(?:\.\d+)? ?(?:[KMGT]i?)?B$/i],
  ['hex', /^(?:0x)?[\da-f]{6,}$/i],
  ['path', /^(?:[a-z]+:\/)?\//],
  ['host', /^[\w-]+(?:\.[\w-]+)+(?::\d+)?$/],
  ['id', /\d/],
];

function kindOf(values: readonly string[]): string {
  return kinds.find(([, form]) => values.every((value) => form.test(value)))?.[0] ?? 'text';
}

/** The phrase has an index, and the expression matches no other template's messages. */
function queryOf(columns: readonly Column[], isCut: boolean): Query {
  const regex = `(?s)^${columns.map(regexOf).join('')}${isCut ? '' : '$'}`;
  const exact: Query = { kind: 'field', key: 'message', test: { op: 'regex', regex } };
  const phrase = longestPhrase(columns);
  if (phrase.length < minPhraseLength) return exact;
  return { kind: 'and', items: [{ kind: 'text', pattern: [phrase] }, exact] };
}

function regexOf({ texts, isVariable, isSpace }: Column): string {
  const [only = ''] = texts;
  if (isSpace) return texts.size === 1 && only === ' ' ? ' ' : String.raw`\s+`;
  if (!isVariable) return only.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const all = [...texts].join('');
  if (new RegExp(`[${blanks}]`).test(all)) return '.*';
  return new RegExp(`[${marks}]`).test(all) ? String.raw`\S*` : `[^${blanks}${marks}]*`;
}

function longestPhrase(columns: readonly Column[]): string {
  let [phrase, longest] = ['', ''];
  for (const { texts, isVariable, isSpace } of columns) {
    const [text = ''] = texts;
    const isConstant = !isVariable && texts.size === 1 && (!isSpace || text === ' ');
    phrase = isConstant ? phrase + text : '';
    if (phrase.trim().length > longest.length) longest = phrase.trim();
  }
  return longest.slice(0, maxPhraseLength).trim();
}
