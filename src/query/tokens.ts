/**
 * The tokens of the query language. A token depends on what the grammar expects: `500` is a word,
 * or a value after an operator.
 */
import { ExternalTokenizer, type InputStream } from '@lezer/lr';
import { findQueryField } from './fields.ts';
import {
  AndWord,
  Bound,
  Close,
  Key,
  Minus,
  NotWord,
  Open,
  Operator,
  OrWord,
  Phrase,
  RangeClose,
  RangeOpen,
  Regex,
  ToWord,
  Value,
  Word,
} from './grammar-terms.ts';

type Expects = (term: number) => boolean;
type Token = readonly [term: number, length: number];

const keywords: readonly (readonly [text: string, term: number])[] = [
  ['OR', OrWord],
  ['||', OrWord],
  ['AND', AndWord],
  ['&&', AndWord],
  ['NOT', NotWord],
];

const phrasePattern = /^"(?:[^"\\]|\\[^])*(?:"|\\?$)/;
/** Between slashes, and at the end of a term: `/api/v1` is no regular expression. */
const regexPattern = /^\/(?:[^/\\\n]|\\.)+\/(?=[\s)]|$)/;
const keyPattern = /^[\p{L}_@$](?:[\p{L}\p{N}_.@$/-]|\\[^\p{L}\p{N}\s])*/u;
const operatorPattern = /^(?::[<>]=?|:!=|:=|:|[<>]=?|!=)/;
const boundPattern = /^(?:[^\s\\\]}"]|\\[^])+/;

/** For text of which nothing else is known; takes time in the square of its length. */
export const tokens = createTokens((input) => {
  let rest = '';
  for (let code = input.next, at = 0; code >= 0; code = input.peek(++at)) {
    rest += String.fromCharCode(code);
  }
  return rest;
});

/** The tokens of this text. */
export function tokensOf(text: string): ExternalTokenizer {
  return createTokens(({ pos }) => text.slice(pos));
}

/** @param restOf the text from the position of the input */
function createTokens(restOf: (input: InputStream) => string): ExternalTokenizer {
  return new ExternalTokenizer(
    (input, stack) => {
      const rest = restOf(input);
      if (rest === '') return;
      const [term, length] = stack.canShift(Operator)
        ? [Operator, operatorPattern.exec(rest)?.[0].length ?? 0]
        : readToken(rest, (wanted) => stack.canShift(wanted));
      if (length > 0) input.acceptToken(term, length);
    },
    { contextual: true },
  );
}

function readToken(rest: string, expects: Expects): Token {
  if (expects(Bound) || expects(ToWord) || expects(RangeClose)) return readInRange(rest, expects);
  if (rest.startsWith('(') && expects(Open)) return [Open, 1];
  if (rest.startsWith(')')) return [Close, 1];
  if (expects(RangeOpen) && /^[[{]/.test(rest)) return [RangeOpen, 1];
  // A keyword where the grammar expects a term is an error, except as the only value.
  const isOnlyValue = expects(Value) && !expects(NotWord);
  const keyword = isOnlyValue ? undefined : keywords.find(([text]) => startsWith(rest, text));
  if (keyword !== undefined) return [keyword[1], keyword[0].length];
  if (/^-[^\s)-]/.test(rest) && expects(Minus)) return [Minus, 1];
  const phrase = phrasePattern.exec(rest)?.[0].length ?? 0;
  if (phrase > 0) {
    const isKey = expects(Key) && isOperatorAt(rest.slice(phrase), false);
    return [isKey ? Key : Phrase, phrase];
  }
  const regex = regexPattern.exec(rest);
  if (regex !== null) return [Regex, regex[0].length];
  if (expects(Value)) return [Value, wordLength(rest)];
  return readKey(rest) ?? [Word, wordLength(rest)];
}

function startsWith(rest: string, keyword: string): boolean {
  return rest.startsWith(keyword) && /^(?:[\s()]|$)/.test(rest.slice(keyword.length));
}

function readInRange(rest: string, expects: Expects): Token {
  if (/^[\]}]/.test(rest)) return [RangeClose, 1];
  if (/^TO(?:\s|$)/.test(rest) && expects(ToWord)) return [ToWord, 2];
  const phrase = phrasePattern.exec(rest);
  if (phrase !== null) return [Phrase, phrase[0].length];
  return [Bound, boundPattern.exec(rest)?.[0].length ?? 0];
}

function readKey(rest: string): Token | undefined {
  const key = keyPattern.exec(rest)?.[0];
  if (key === undefined || key.endsWith('-')) return undefined;
  const isField = findQueryField(key) !== undefined;
  return isOperatorAt(rest.slice(key.length), isField) ? [Key, key.length] : undefined;
}

/**
 * Whether an operator follows a key, rather than the rest of a word: not in `error: timeout`,
 * `https://host`, `std::vector` or `List<String>`. A name of a field always takes its operator.
 */
function isOperatorAt(rest: string, isField: boolean): boolean {
  if (/^(?:[<>]=|!=|:[<>]|:!=)/.test(rest)) return true;
  if (/^[<>]/.test(rest)) return isField || /^.-?[.\d"]/.test(rest);
  if (!rest.startsWith(':') || /^:(?::|\/\/)/.test(rest)) return false;
  return isField || /^:[^\s)]/.test(rest);
}

/**
 * To white space or a closing parenthesis that the word did not open. A quote after punctuation
 * reaches to the next one, as in `search`.
 */
function wordLength(rest: string): number {
  let depth = 0;
  let at = 0;
  for (; at < rest.length; at++) {
    const char = rest[at]!;
    if (/\s/.test(char)) break;
    if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && --depth < 0) break;
    else if (char === '"' && at > 0 && !/[\p{L}\p{N}]/u.test(rest[at - 1]!)) {
      const end = rest.indexOf('"', at + 1);
      if (end > 0) at = end;
    }
  }
  return Math.min(at, rest.length);
}
