/**
 * Mutates text by token: keywords in wrong places, numbers in every form, escapes, tokens removed,
 * duplicated, swapped or taken from another text. Non-UTF-8 bytes pass through unchanged.
 */
import type { Random } from '../harness/random.ts';

/** Numbers in unusual notations, and near-numbers. */
export const numberForms = [
  '0',
  '-0',
  '+1',
  '01',
  '1.',
  '.5',
  '-',
  '1e5',
  '1E+5',
  '1e',
  '1e400',
  '-1e-400',
  '5e-324',
  '0.1',
  '1.7976931348623157e308',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '1700000000',
  '1700000000000',
  '1700000000123456789',
  '-1700000000',
  '0x1f',
  '0x1p-2',
  '1_000',
  'NaN',
  'nan',
  'Inf',
  '+Inf',
  '-inf',
  'Infinity',
  '1'.repeat(400),
  `0.${'3'.repeat(400)}`,
  `1${'0'.repeat(30)}e-30`,
] as const;

/** `latin1` keeps bytes; these are UTF-8 in it, or invalid UTF-8. */
const strangeTexts = [
  '\xff',
  '\xed\xa0\x80',
  '\xf0\x9f\x98\x80',
  '\xf0\x9f\x98',
  '\xc0\x80',
  '\xef\xbb\xbf',
  '\0',
  '\n',
  '\\',
  '"',
  '\\u',
  '\\ud83d',
] as const;

const token = /"(?:[^"\\]|\\[^])*"|[\w.+-]+|\s+|[^]/g;

type Tokens = string[];
type Change = (random: Random, tokens: Tokens, words: Words, other: Tokens) => void;
export type Words = readonly [string, ...string[]];

const changes: readonly [Change, ...Change[]] = [
  (random, tokens) => void tokens.splice(placeOf(random, tokens), 1),
  (random, tokens, words) => void (tokens[placeOf(random, tokens)] = random.pick(words)),
  (random, tokens, words) => void tokens.splice(placeOf(random, tokens), 0, random.pick(words)),
  (random, tokens) => void (tokens[placeOf(random, tokens)] = random.pick(numberForms)),
  function swap(random, tokens) {
    const [one, two] = [placeOf(random, tokens), placeOf(random, tokens)];
    [tokens[one], tokens[two]] = [tokens[two]!, tokens[one]!];
  },
  function repeat(random, tokens) {
    const start = placeOf(random, tokens);
    const part = tokens.slice(start, start + random.integer(1, 12));
    const times = random.integer(1, random.pick([1, 3, 100]));
    tokens.splice(start, 0, ...Array.from({ length: times }, () => part).flat());
  },
  function splice(random, tokens, _words, other) {
    const start = placeOf(random, other);
    const part = other.slice(start, start + random.integer(1, 20));
    tokens.splice(placeOf(random, tokens), random.integer(0, 10), ...part);
  },
  function spoilText(random, tokens) {
    const at = placeOf(random, tokens);
    const text = tokens[at] ?? '';
    const inside = random.integer(0, text.length);
    tokens[at] = `${text.slice(0, inside)}${random.pick(strangeTexts)}${text.slice(inside)}`;
  },
];

/**
 * @param words keywords of the format, as `latin1`.
 * @param other another text of the same format, to take tokens from.
 */
export function damageText(random: Random, bytes: Buffer, other: Buffer, words: Words): Buffer {
  const tokens = tokensOf(bytes);
  random.pick(changes)(random, tokens, words, tokensOf(other));
  return Buffer.from(tokens.join(''), 'latin1');
}

function tokensOf(bytes: Buffer): Tokens {
  return bytes.toString('latin1').match(token) ?? [];
}

function placeOf(random: Random, tokens: Tokens): number {
  return random.integer(0, Math.max(tokens.length - 1, 0));
}
