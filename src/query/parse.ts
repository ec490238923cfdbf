/** From the text of a query to its syntax tree. Pure; any text gives a tree or a `QueryError`. */
import { isPossible, type EqualityField, logFields } from '../model/log-fields.ts';
import { parseSeverityNumber } from '../model/severity.ts';
import { expectedAt, type Node } from './expected.ts';
import { findQueryField } from './fields.ts';
import { parser } from './grammar.ts';
import { tokens, tokensOf } from './tokens.ts';

/** `and` and `or` have at least two items, none of the same kind; nor is a `not` negated. */
export type Query =
  | { readonly kind: 'and' | 'or'; readonly items: readonly Query[] }
  | { readonly kind: 'not'; readonly item: Query }
  /** Substring of the message, ignoring case. */
  | { readonly kind: 'text'; readonly pattern: Pattern }
  | { readonly kind: 'field'; readonly key: string; readonly test: Test };

/** Pieces with anything between them; a single piece is literal. */
export type Pattern = readonly string[];

export type Test =
  | { readonly op: 'is'; readonly pattern: Pattern }
  | { readonly op: Comparison; readonly value: string }
  | { readonly op: 'range'; readonly from: Bound | undefined; readonly until: Bound | undefined }
  | { readonly op: 'regex'; readonly regex: string }
  | { readonly op: 'exists' };

export type Comparison = '<' | '<=' | '>' | '>=';

interface Bound {
  readonly value: string;
  readonly isInclusive: boolean;
}

const maxQueryLength = 4_000;
const maxTerms = 200;
const maxDepth = 40;

export class QueryError extends Error {
  /** Of the first character that does not fit, from 0. */
  readonly position: number;

  /** @param problem what was expected, and a suggestion */
  constructor(position: number, problem: string) {
    super(problem);
    this.position = position;
  }
}

export interface QueryOptions {
  /** Checks a regular expression. @returns what is wrong with it */
  readonly checkRegex?: (regex: string) => string | undefined;
}

/** @returns undefined for an empty query, which every log matches. @throws QueryError */
export function parseLogQuery(text: string, options: QueryOptions = {}): Query | undefined {
  if (text.length > maxQueryLength) {
    throw new QueryError(maxQueryLength, `expected at most ${maxQueryLength} characters`);
  }
  const root = readTree(text).firstChild;
  return root === null ? undefined : new TreeReader(text, options).read(root);
}

class TreeReader {
  readonly #text: string;
  readonly #options: QueryOptions;
  #terms = 0;
  #depth = 0;

  constructor(text: string, options: QueryOptions) {
    this.#text = text;
    this.#options = options;
  }

  /** @param key of the comparison that the node is a value of */
  read(node: Node, key?: string): Query {
    if (++this.#depth > maxDepth) {
      throw new QueryError(node.from, `expected at most ${maxDepth} levels of parentheses`);
    }
    try {
      switch (node.name) {
        case 'And':
        case 'Or':
          return this.#readItems(node, key);
        case 'Not':
          return negated(this.read(node.lastChild!, key));
        case 'Group':
        case 'Values':
          return this.read(node.firstChild!.nextSibling!, key);
        case 'Comparison':
          return this.#readComparison(node);
        default:
          return this.#readTerm(node, key);
      }
    } finally {
      this.#depth--;
    }
  }

  #readItems(node: Node, key: string | undefined): Query {
    const kind = node.name === 'And' ? 'and' : 'or';
    const items: Query[] = [];
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.name === 'AndWord' || child.name === 'OrWord') continue;
      const item = this.read(child, key);
      if (item.kind === kind) items.push(...item.items);
      else items.push(item);
    }
    return { kind, items };
  }

  #readComparison(node: Node): Query {
    const { firstChild: keyNode, lastChild: value } = node;
    const operator = this.#slice(keyNode!.nextSibling!).replace(/^:(?=.)/, '');
    const key = readLiteral(this.#slice(keyNode!));
    if (operator === '!=') return negated(this.read(value!, key));
    if (operator === ':' || operator === '=') return this.read(value!, key);
    if (value!.name !== 'Value' && value!.name !== 'Phrase') {
      throw new QueryError(value!.from, `expected a number or a word after ${operator}`);
    }
    this.#countTerm(value!);
    return this.#compare(value!, key, { operator, written: this.#slice(value!) });
  }

  #compare(
    node: Node,
    key: string,
    { operator, written }: { readonly operator: string; readonly written: string },
  ): Query {
    this.#checkStream(node, key);
    const [compared, ...more] = this.#patternOf(node, written);
    if (compared === '' && !written.startsWith('"')) {
      throw new QueryError(node.from, `expected a number or a word after ${operator}`);
    }
    if (more.length > 0) {
      throw new QueryError(
        node.from,
        `expected no * after ${operator}; quote it to compare with it`,
      );
    }
    // Such as `<none>`, the tag of untagged images.
    if (operator === '<' && /[^\\]>$/.test(written)) {
      throw new QueryError(
        node.from,
        `expected a number or a word after <; quote "<${written}" to find it`,
      );
    }
    this.#checkComparison(node, key, compared!);
    return { kind: 'field', key, test: { op: operator as Comparison, value: compared! } };
  }

  #readTerm(node: Node, key: string | undefined): Query {
    this.#countTerm(node);
    if (node.name === 'Regex') {
      this.#checkStream(node, key);
      const regex = this.#slice(node).slice(1, -1).replaceAll('\\/', '/');
      const problem = this.#options.checkRegex?.(regex);
      if (problem !== undefined) {
        throw new QueryError(node.from, `expected a regular expression of RE2: ${problem}`);
      }
      return { kind: 'field', key: key ?? 'message', test: { op: 'regex', regex } };
    }
    if (node.name === 'Range') {
      this.#checkStream(node, key);
      return this.#readRange(node, key!);
    }
    const written = this.#slice(node);
    // As in `status:(>=400 <500)`.
    const [operator] = (node.name === 'Value' && /^[<>]=?/.exec(written)) || [];
    if (operator !== undefined) {
      return this.#compare(node, key!, { operator, written: written.slice(operator.length) });
    }
    const pattern = this.#patternOf(node, written);
    if (key === undefined) return { kind: 'text', pattern };
    if (key === '_exists_') {
      return { kind: 'field', key: pattern.join('*'), test: { op: 'exists' } };
    }
    if (pattern.length === 2 && pattern.join('') === '') {
      return { kind: 'field', key, test: { op: 'exists' } };
    }
    this.#checkValue(node, key, pattern);
    return { kind: 'field', key, test: { op: 'is', pattern } };
  }

  #readRange(node: Node, key: string): Query {
    const open = node.firstChild!;
    const from = open.nextSibling!;
    const until = node.lastChild!.prevSibling!;
    const bound = (at: Node, isInclusive: boolean): Bound | undefined => {
      const written = this.#slice(at);
      if (written === '*') return undefined;
      this.#checkClosed(at);
      const value = readLiteral(written);
      this.#checkComparison(at, key, value);
      return { value, isInclusive };
    };
    const test: Test = {
      op: 'range',
      from: bound(from, this.#slice(open) === '['),
      until: bound(until, this.#slice(node.lastChild!) === ']'),
    };
    return { kind: 'field', key, test };
  }

  #patternOf(node: Node, written: string): Pattern {
    this.#checkClosed(node);
    return isPhrase(written) ? [unquoted(written)] : toPattern(written);
  }

  #checkClosed(node: Node): void {
    if (node.name !== 'Phrase' || isPhrase(this.#slice(node))) return;
    throw new QueryError(node.from, 'expected a closing quote; \\" is a quote in quotes');
  }

  #checkValue(node: Node, key: string, pattern: Pattern): void {
    const field = findQueryField(key);
    if (pattern.length > 1 || field === undefined || field === 'message') return;
    if (!('filter' in logFields[field]) || field === 'streamId') return;
    if (isPossible(field as EqualityField, pattern[0]!)) return;
    throw new QueryError(
      node.from,
      `expected the hex digits of a whole ${field}; end with * to give the first digits`,
    );
  }

  #checkComparison(node: Node, key: string, value: string): void {
    if (findQueryField(key) !== 'severity' || parseSeverityNumber(value) !== undefined) return;
    throw new QueryError(
      node.from,
      'expected a severity such as warn or error, or a number from 1 to 24',
    );
  }

  #checkStream(node: Node, key: string | undefined): void {
    if (key === undefined || findQueryField(key) !== 'streamId') return;
    throw new QueryError(node.from, 'expected the name or the id of a stream');
  }

  #countTerm(node: Node): void {
    if (++this.#terms > maxTerms) {
      throw new QueryError(node.from, `expected at most ${maxTerms} terms`);
    }
  }

  #slice(node: Node): string {
    return this.#text.slice(node.from, node.to);
  }
}

export function negated(query: Query): Query {
  return query.kind === 'not' ? query.item : { kind: 'not', item: query };
}

/** The text of a key or bound, without its quotes or escapes. */
export function readLiteral(written: string): string {
  return isPhrase(written) ? unquoted(written) : toPattern(written, false)[0]!;
}

function isPhrase(written: string): boolean {
  return /^"(?:[^"\\]|\\[^])*"$/.test(written);
}

/** `\"` and `\\` are escapes. */
function unquoted(phrase: string): string {
  return phrase.slice(1, -1).replace(/\\(["\\])/g, '$1');
}

/** A backslash before punctuation or white space makes it literal. */
function toPattern(word: string, hasWildcards = true): Pattern {
  const pieces = [''];
  for (const [part] of word.matchAll(/\\[^\p{L}\p{N}]|[^]/gu)) {
    const isEscape = part.length > 1 && part.startsWith('\\');
    if (part === '*' && hasWildcards) pieces.push('');
    else pieces[pieces.length - 1] += isEscape ? part.slice(1) : part;
  }
  return pieces;
}

/** @throws QueryError at the first place that the grammar cannot read */
function readTree(text: string): Node {
  const tokenizers = (read: string) => [{ from: tokens, to: tokensOf(read) }];
  try {
    return parser.configure({ strict: true, tokenizers: tokenizers(text) }).parse(text).topNode;
  } catch (error) {
    const stoppedAt = /^No parse at (\d+)$/.exec((error as Error).message)?.[1];
    if (stoppedAt === undefined) throw error;
    const position = text.length - text.slice(Number(stoppedAt)).trimStart().length;
    // What was read shows what is missing; recovery at the end of it is cheap.
    const before = text.slice(0, position);
    const { topNode } = parser.configure({ tokenizers: tokenizers(before) }).parse(before);
    throw new QueryError(position, expectedAt(topNode, text, position));
  }
}
