/**
 * Tokens of both text formats: names, blanks, quoted text, ends of lines. Each function takes
 * a position and returns the position after the token. Errors name line and column.
 */
import { AppError } from '../../model/errors.ts';

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

/** Bytes of unquoted names. Colons are for metric names only. */
const nameKind = { none: 0, digit: 1, letter: 2, colon: 4 } as const;
export const labelName = nameKind.letter;
export const metricName = nameKind.letter | nameKind.colon;

const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[a-zA-Z_]/.test(character)) return nameKind.letter;
  if (/[0-9]/.test(character)) return nameKind.digit;
  return character === ':' ? nameKind.colon : nameKind.none;
});

/** Skips bytes of a metric name without checking the first one. */
export function skipNameBytes(bytes: Buffer, start: number): number {
  let at = start;
  while (kinds[bytes[at]!]! > 0) at += 1;
  return at;
}

/** @param initial `labelName` or `metricName` @returns `start` if there is no name */
export function skipName(bytes: Buffer, start: number, initial: number): number {
  if ((kinds[bytes[start]!]! & initial) === 0) return start;
  let at = start + 1;
  while ((kinds[bytes[at]!]! & (initial | nameKind.digit)) > 0) at += 1;
  return at;
}

export function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** Whether a number may end before this byte: a blank or the end of the line. */
export function endsToken(byte: number | undefined): boolean {
  return isBlank(byte) || endsLine(byte);
}

export function endsLine(byte: number | undefined): boolean {
  return byte === newline || byte === carriageReturn || byte === undefined;
}

/** Skips spaces and tabs if the grammar allows any number of them. */
export function skipBlanks(bytes: Buffer, start: number, grammar: Grammar): number {
  let at = start;
  if (grammar.spacing === 'any') while (isBlank(bytes[at])) at += 1;
  return at;
}

/** @param expected for the error */
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

/** The classic format also allows CRLF, and a last line without an end. */
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
 * @returns the position of the closing quote, or -1 if the line ends before it
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
 * @throws AppError `malformed` for an unknown escape
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
 * Unescapes into one buffer: a text of many escapes must not allocate many strings. Keeps unknown
 * escapes.
 * @param quotes code of the quote if it may be escaped, else -1
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

/**
 * Differences between the classic format
 * (https://prometheus.io/docs/instrumenting/exposition_formats, "Text-based format") and
 * OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec).
 */
export interface Grammar {
  /** `any`: any spaces and tabs, blank lines, comments; `single`: one space between tokens. */
  readonly spacing: 'any' | 'single';
  /** Unknown escapes fail, or are kept with the backslash. */
  readonly otherEscapes: 'refused' | 'kept';
  /** Unit of times: whole milliseconds or decimal seconds. */
  readonly times: 'milliseconds' | 'seconds';
  /** Prefix of reserved label names. `__name__` is reserved in both formats. */
  readonly reservedPrefix: string | undefined;
  /** Required last line. */
  readonly lastLine: '# EOF' | undefined;
  /** Types of a TYPE line. */
  readonly types: readonly string[];
  readonly metadata: readonly MetadataKind[];
}

export type MetadataKind = 'HELP' | 'TYPE' | 'UNIT';

export const classicText: Grammar = {
  spacing: 'any',
  otherEscapes: 'refused',
  times: 'milliseconds',
  reservedPrefix: undefined,
  lastLine: undefined,
  types: ['counter', 'gauge', 'histogram', 'summary', 'untyped'],
  metadata: ['HELP', 'TYPE'],
};

export const openMetrics: Grammar = {
  spacing: 'single',
  otherEscapes: 'kept',
  times: 'seconds',
  reservedPrefix: '__',
  lastLine: '# EOF',
  types: [
    'counter',
    'gauge',
    'histogram',
    'gaugehistogram',
    'stateset',
    'info',
    'summary',
    'unknown',
  ],
  metadata: ['HELP', 'TYPE', 'UNIT'],
};

/** Characters of the text shown in an error. */
const maxFound = 24;

/**
 * @param expected at this position
 * @throws AppError `malformed`
 */
export function failAt(bytes: Buffer, at: number, expected: string): never {
  refuseAt(bytes, at, `expected ${expected}, found ${describeFound(bytes, at)}`);
}

/** @throws AppError `malformed` */
export function refuseAt(bytes: Buffer, at: number, reason: string): never {
  throw new AppError(
    'malformed',
    `cannot read the metrics: ${describePlace(bytes, at)}: ${reason}`,
  );
}

/** Line and column from 1; columns count code points. */
export function describePlace(bytes: Buffer, at: number): string {
  let line = 1;
  let column = 1;
  for (let i = 0; i < at; i += 1) {
    const byte = bytes[i]!;
    if (byte === newline) {
      line += 1;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) column += 1;
  }
  return `line ${line}, column ${column}`;
}

function describeFound(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return 'the end of the body';
  if (bytes[at] === newline) return 'the end of the line';
  const end = bytes.indexOf(newline, at);
  // A character has at most four bytes, so that no shown character is cut.
  const limit = Math.min(end < 0 ? bytes.length : end, at + 4 * maxFound);
  const characters = Array.from(bytes.toString('utf8', at, limit));
  const found = characters.slice(0, maxFound).join('');
  return JSON.stringify(characters.length > maxFound ? `${found}…` : found);
}
