/**
 * Writes values as text. A top-level string is written as it is; values in arrays and maps are
 * JSON without spaces:
 *
 * | value  | alone                          | nested                         |
 * | ------ | ------------------------------ | ------------------------------ |
 * | string | itself                         | in quotes                      |
 * | bool   | `true` or `false`              | the same                       |
 * | int    | decimal digits, exact          | the same                       |
 * | double | as JavaScript writes it        | the same; `"NaN"`, `"Infinity"`, `"-Infinity"` |
 * | bytes  | base64 with padding            | in quotes                      |
 * | array  | `[…]`                          | the same                       |
 * | map    | `{…}`, keys as sent, in order  | the same                       |
 * | none   | empty                          | `null`                         |
 *
 * Arrays and maps may be nested `DecodeLimits.maxDepth` levels deep and have `maxElements` elements
 * per record, resource or scope.
 */
import { AppError } from '../../model/errors.ts';

const initialBytes = 4096;
const maxKeptBytes = 256 * 1024;
/** An element may have two bytes but costs as much as a hundred bytes of text. */
export const maxElements = 100_000;
const maxTextBytes = 32 * 1024 * 1024;
/** Bytes of a string for which the worst case of escaping is reserved at once. */
const escapedAtOnce = 4096;

const quote = 0x22;
const backslash = 0x5c;
const hexDigits = Buffer.from('0123456789abcdef');
/** Letter of the short escape of a control character; 0 = none. */
const shortEscapes = new Uint8Array(32);
for (const [letter, code] of [
  ['b', 0x08],
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
] as const) {
  shortEscapes[code] = letter.charCodeAt(0);
}

/**
 * Texts back to back. Offsets stay valid until `clear`, but a write may replace `bytes`: read it
 * once a text is complete.
 */
export class ValueText {
  #bytes = Buffer.allocUnsafeSlow(initialBytes);
  #length = 0;
  #elements = 0;

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Offset of the next text. */
  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
    this.#elements = 0;
    if (this.#bytes.length > maxKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(initialBytes);
  }

  /** Counts an element of an array or map. @returns false if it exceeds the limit */
  takeElement(): boolean {
    this.#elements += 1;
    return this.#elements <= maxElements;
  }

  get hasTooManyElements(): boolean {
    return this.#elements > maxElements;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** @param text ASCII only */
  ascii(text: string): void {
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i += 1) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  raw(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    source.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  /** A JSON string from valid UTF-8, escaped like `JSON.stringify`. */
  quoted(source: Buffer, start: number, end: number): void {
    this.byte(quote);
    for (let at = start; at < end; at += escapedAtOnce) {
      this.#escape(source, at, Math.min(at + escapedAtOnce, end));
    }
    this.byte(quote);
  }

  base64(source: Buffer, start: number, end: number): void {
    this.#reserve(Math.ceil((end - start) / 3) * 4);
    const text = source.toString('base64', start, end);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  /** An int64 from two halves of any sign. */
  integer(high: number, low: number): void {
    if (high === 0) this.ascii(String(low >>> 0));
    else if ((high | 0) === -1 && (low | 0) < 0) this.ascii(String(low | 0));
    else this.ascii(String((BigInt(high | 0) << 32n) | BigInt(low >>> 0)));
  }

  double(value: number): void {
    this.ascii(String(value));
  }

  nestedDouble(value: number): void {
    this.ascii(Number.isFinite(value) ? String(value) : `"${value}"`);
  }

  #escape(source: Buffer, start: number, end: number): void {
    this.#reserve(6 * (end - start));
    const out = this.#bytes;
    let length = this.#length;
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte >= 0x20) {
        if (byte === quote || byte === backslash) out[length++] = backslash;
        out[length++] = byte;
      } else {
        length = writeControl(out, length, byte);
      }
    }
    this.#length = length;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    if (needed > maxTextBytes) {
      throw new AppError(
        'too_large',
        'cannot accept a record, resource or scope whose nested or encoded values need more ' +
          `than ${maxTextBytes} bytes as text: send smaller values`,
      );
    }
    const size = Math.min(Math.max(needed, this.#bytes.length * 2), maxTextBytes);
    const grown = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** @throws AppError `malformed`, always */
export function failTooDeep(maxDepth: number): never {
  throw new AppError(
    'malformed',
    `cannot accept arrays and maps nested more than ${maxDepth} levels deep: ` +
      'send flatter values, or raise ingest.otlpMaxDepth',
  );
}

function writeControl(out: Buffer, at: number, byte: number): number {
  out[at++] = backslash;
  const letter = shortEscapes[byte]!;
  if (letter !== 0) {
    out[at++] = letter;
    return at;
  }
  out[at++] = 0x75;
  out[at++] = 0x30;
  out[at++] = 0x30;
  out[at++] = hexDigits[byte >> 4]!;
  out[at++] = hexDigits[byte & 15]!;
  return at;
}
