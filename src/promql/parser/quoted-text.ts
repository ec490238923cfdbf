/** String literals of PromQL in quotes or backticks. Pure. */

interface QuotedText {
  /** Undefined content where there is a fault. */
  readonly value: string;
  /** Index after the closing quote, or of the fault. */
  readonly end: number;
  readonly fault: string | undefined;
}

const plainText = /[^"'\\\n]+/y;
/** Bytes by the letter of their escape. */
const byteEscapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
};
const hexDigit = '[0-9a-fA-F]';
const numericEscape = new RegExp(
  `\\\\(?:x(${hexDigit}{2})|u(${hexDigit}{4})|U(${hexDigit}{8})|([0-7]{3}))`,
  'y',
);

/**
 * A string literal in double or single quotes with Go's escapes, or raw in backticks.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/#string-literals
 * @returns undefined where no quote opens at `start`.
 */
export function readQuoted(text: string, start: number): QuotedText | undefined {
  const quote = text[start];
  if (quote === '`') return readRaw(text, start);
  if (quote !== '"' && quote !== "'") return undefined;
  const bytes: number[] = [];
  for (let at = start + 1; at < text.length; ) {
    const unit = text[at];
    if (unit === quote) return toText(bytes, at + 1);
    if (unit === '\n') return faultAt(at, 'a line ends inside of quotes');
    const piece = unit === '\\' ? readEscape(text, at, quote) : readPlain(text, at);
    if (piece === undefined) return faultAt(at, 'this escape is unknown');
    for (const byte of piece.bytes) bytes.push(byte);
    at = piece.end;
  }
  return faultAt(text.length, 'the quotes are not closed');
}

function readRaw(text: string, start: number): QuotedText {
  const close = text.indexOf('`', start + 1);
  if (close === -1) return faultAt(text.length, 'the quotes are not closed');
  return { value: text.slice(start + 1, close), end: close + 1, fault: undefined };
}

interface Piece {
  readonly bytes: Iterable<number>;
  readonly end: number;
}

/** Up to the next special character, or that character where it has no meaning here. */
function readPlain(text: string, at: number): Piece {
  plainText.lastIndex = at;
  const found = plainText.exec(text)?.[0] ?? text[at]!;
  return { bytes: encoder.encode(found), end: at + found.length };
}

function readEscape(text: string, at: number, quote: string): Piece | undefined {
  const letter = text[at + 1] ?? '';
  if (letter === quote) return { bytes: encoder.encode(quote), end: at + 2 };
  const byte = Object.hasOwn(byteEscapes, letter) ? byteEscapes[letter] : undefined;
  if (byte !== undefined) return { bytes: [byte], end: at + 2 };
  return readNumericEscape(text, at);
}

function readNumericEscape(text: string, at: number): Piece | undefined {
  numericEscape.lastIndex = at;
  const match = numericEscape.exec(text);
  if (match === null) return undefined;
  const [whole, byteHex, shortHex, longHex, octal] = match;
  const end = at + whole.length;
  if (byteHex !== undefined) return { bytes: [Number.parseInt(byteHex, 16)], end };
  if (octal !== undefined) {
    const byte = Number.parseInt(octal, 8);
    return byte > 255 ? undefined : { bytes: [byte], end };
  }
  const point = Number.parseInt(shortHex ?? longHex ?? '', 16);
  const isCharacter = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  return isCharacter ? { bytes: encoder.encode(String.fromCodePoint(point)), end } : undefined;
}

const encoder = new TextEncoder();
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Escapes may encode bytes that are not UTF-8. */
function toText(bytes: readonly number[], end: number): QuotedText {
  try {
    return { value: utf8.decode(Uint8Array.from(bytes)), end, fault: undefined };
  } catch {
    return faultAt(end, 'the quoted bytes are no UTF-8');
  }
}

function faultAt(end: number, fault: string): QuotedText {
  return { value: '', end, fault };
}
