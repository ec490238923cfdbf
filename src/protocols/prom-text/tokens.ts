/**
 * The smallest pieces of both formats: names, blanks, quoted text, ends of lines. Each function
 * takes a position and returns the one after the piece.
 */
import type { Grammar } from './grammar.ts';
import { failAt } from './fail-at.ts';

export const newline = 0x0a;
export const carriageReturn = 0x0d;
export const space = 0x20;
export const quote = 0x22;
export const hash = 0x23;
export const comma = 0x2c;
export const equals = 0x3d;
const backslash = 0x5c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
const tab = 0x09;

/** Bytes of names that need no quotes: of labels, and with colons of metrics. */
const nameKind = { none: 0, digit: 1, letter: 2, colon: 4 } as const;
export const labelName = nameKind.letter;
export const metricName = nameKind.letter | nameKind.colon;

const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[a-zA-Z_]/.test(character)) return nameKind.letter;
  if (/[0-9]/.test(character)) return nameKind.digit;
  return character === ':' ? nameKind.colon : nameKind.none;
});

/** Skips what may stand in the name of a metric, whether or not it may begin one. */
export function skipNameBytes(bytes: Buffer, start: number): number {
  let at = start;
  while (kinds[bytes[at]!]! > 0) at += 1;
  return at;
}

/** @param initial `labelName` or `metricName` @returns `start` where there is none. */
export function skipName(bytes: Buffer, start: number, initial: number): number {
  if ((kinds[bytes[start]!]! & initial) === 0) return start;
  let at = start + 1;
  while ((kinds[bytes[at]!]! & (initial | nameKind.digit)) > 0) at += 1;
  return at;
}

export function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** Whether nothing more of a number can stand here: a blank, or the end of the line. */
export function endsToken(byte: number | undefined): boolean {
  return isBlank(byte) || endsLine(byte);
}

export function endsLine(byte: number | undefined): boolean {
  return byte === newline || byte === carriageReturn || byte === undefined;
}

/** Spaces and tabs where the grammar allows any, nothing where it does not. */
export function skipBlanks(bytes: Buffer, start: number, grammar: Grammar): number {
  let at = start;
  if (grammar.spacing === 'any') while (isBlank(bytes[at])) at += 1;
  return at;
}

/** @param expected what would be right at this place besides a blank. */
export function expectBlank(
  bytes: Buffer,
  start: number,
  { grammar, expected }: { readonly grammar: Grammar; readonly expected: string },
): number {
  if (grammar.spacing === 'any') {
    if (!isBlank(bytes[start])) failAt(bytes, start, expected);
    return skipBlanks(bytes, start + 1, grammar);
  }
  if (bytes[start] !== space) failAt(bytes, start, expected);
  return start + 1;
}

/** The classic format ends lines as Windows does, too; its last line may lack its end. */
export function expectLineEnd(bytes: Buffer, at: number, grammar: Grammar): number {
  const byte = bytes[at];
  if (byte === newline) return at + 1;
  if (grammar.spacing === 'any') {
    if (byte === undefined) return at;
    if (byte === carriageReturn && bytes[at + 1] === newline) return at + 2;
    if (byte === hash) failAt(bytes, at, 'the end of the line (exemplars need OpenMetrics)');
  } else if (byte === carriageReturn) {
    failAt(bytes, at, 'the end of the line (OpenMetrics ends lines with \\n alone, without \\r)');
  }
  failAt(bytes, at, 'the end of the line');
}

/**
 * @param start the position after the opening quote.
 * @returns that of the closing quote, or -1 where the line ends before it.
 */
export function skipQuoted(bytes: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    let byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) byte = bytes[++at];
    if (byte === newline || byte === undefined) return -1;
  }
}

const letterN = 0x6e;

/**
 * The text between two quotes.
 * @throws AppError `malformed` for an escape that is none
 */
export function readQuoted(bytes: Buffer, start: number, end: number, grammar: Grammar): string {
  const text = bytes.toString('utf8', start, end);
  if (!text.includes('\\')) return text;
  if (grammar.otherEscapes === 'refused') checkEscapes(bytes, start, end);
  return unescape(bytes, { start, end, quotes: quote });
}

function checkEscapes(bytes: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== backslash) continue;
    at += 1;
    const escaped = bytes[at];
    if (escaped !== backslash && escaped !== quote && escaped !== letterN) {
      failAt(bytes, at - 1, 'one of the escapes \\\\, \\" and \\n');
    }
  }
}

/**
 * Byte by byte: a text of nothing but escapes must not become as many strings.
 * @param quotes as a backslash stands before it; -1 where it is not escaped. An escape that means
 *   nothing stays as it is.
 */
export function unescape(
  bytes: Buffer,
  { start, end, quotes }: { readonly start: number; readonly end: number; readonly quotes: number },
): string {
  const text = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; at += 1) {
    let byte = bytes[at]!;
    if (byte === backslash && at + 1 < end) {
      const escaped = bytes[at + 1]!;
      const isKnown = escaped === backslash || escaped === quotes || escaped === letterN;
      if (isKnown) {
        byte = escaped === letterN ? newline : escaped;
        at += 1;
      }
    }
    text[length++] = byte;
  }
  return text.toString('utf8', 0, length);
}
