/**
 * Reads single fields of OTLP from JSON, in all the forms its mapping allows and senders use
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). The JSON must have been
 * checked. A value of another type than its field is told of and left out.
 */
import { unescape } from '../../codec/json-scanner.ts';
import { Integer64, isShortestDecimal, isShortestInteger } from './json-number.ts';
import { createObjectKeys, type JsonReader, misspeltKey, noMoreKeys } from './json-reader.ts';
import { type IdSlot, TextSlot, type TimeSlot } from './log-record.ts';
import { logWarnings, type WarningCounts } from './log-warnings.ts';

/** What senders of JSON alone are told. */
export const jsonWarnings = {
  misspeltKey: 'key not in lowerCamelCase, or of an older OTLP, left out',
  otherSignal: 'traces, metrics or profiles, left out: this address takes logs',
  repeatedKey: 'key repeated in one object, what came before its last value left out',
} as const;

/** In checked JSON any value may be passed over, however deep it is. */
const anyDepth = Number.POSITIVE_INFINITY;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const letterF = 0x66;
const letterT = 0x74;

/** An old JavaScript SDK sent 64 bits as `{"low": 1, "high": 0, "unsigned": true}`. */
const halfKeys = createObjectKeys(['low', 'high', 'unsigned']);
const half = { low: 0, high: 1 } as const;
const numberForm = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const notFinite: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);
const base64Form = /^[\w+/-]*={0,2}$/;
const severityNumbers: ReadonlyMap<string, number> = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((word, i) =>
    ['', '2', '3', '4'].map((step, j): [string, number] => [
      `SEVERITY_NUMBER_${word}${step}`,
      4 * i + j + 1,
    ]),
  ),
]);

export class JsonScalars {
  readonly #reader: JsonReader;
  readonly #warnings: WarningCounts;
  readonly #integer = new Integer64();
  readonly #token = new TextSlot();

  constructor(reader: JsonReader, warnings: WarningCounts) {
    this.#reader = reader;
    this.#warnings = warnings;
  }

  /** Passes over a member that is not wanted, or is null. @param key as the reader returned it. */
  passOver(key: number): void {
    if (key === misspeltKey) this.#warnings.add(jsonWarnings.misspeltKey);
    this.#reader.skip(anyDepth);
  }

  /** Passes over what should have been of another type. @returns false */
  refuse(): false {
    if (!this.#reader.isNull()) this.#warnings.add(logWarnings.wrongType);
    this.#reader.skip(anyDepth);
    return false;
  }

  /** @returns false, with nothing in the slot, if there is none; as every method here. */
  readText(slot: TextSlot): boolean {
    const reader = this.#reader;
    slot.clear();
    if (!reader.isString()) return this.refuse();
    const start = reader.at + 1;
    const scanned = reader.skipString();
    if (scanned >= 0) {
      slot.set(reader.bytes, start, scanned);
      return true;
    }
    const text = Buffer.allocUnsafe(~scanned - start);
    slot.set(text, 0, unescape(reader.bytes, start, ~scanned, text));
    return true;
  }

  /** @param slot gets `true` or `false`. */
  readBool(slot: TextSlot): boolean {
    const reader = this.#reader;
    const start = reader.at;
    const first = reader.peek();
    slot.clear();
    if (first !== letterT && first !== letterF) return this.refuse();
    reader.skipScalar();
    slot.set(reader.bytes, start, reader.at);
    return true;
  }

  /** @param slot gets the decimal digits of an int64. */
  readInt(slot: TextSlot): boolean {
    const integer = this.#integer;
    const token = this.#token;
    slot.clear();
    if (!this.#readInteger() || !integer.isSigned) return this.#refuseToken();
    if (isShortestInteger(token.source, token.start, token.end)) slot.take(token);
    else setAscii(slot, String((BigInt(integer.high | 0) << 32n) | BigInt(integer.low)));
    return true;
  }

  /** @param slot gets the number as JavaScript writes it, or `NaN`, `Infinity`, `-Infinity`. */
  readDouble(slot: TextSlot): boolean {
    const token = this.#token;
    slot.clear();
    if (!this.#readToken()) return false;
    const { source, start, end } = token;
    if (isShortestInteger(source, start, end) || isShortestDecimal(source, start, end)) {
      slot.take(token);
      return true;
    }
    const text = source.toString('latin1', start, end);
    if (!numberForm.test(text) && !notFinite.has(text)) return this.#refuseToken();
    setAscii(slot, String(Number(text)));
    return true;
  }

  /** @param slot gets base64 in the standard alphabet with padding; either alphabet is read. */
  readBytes(slot: TextSlot): boolean {
    const token = this.#token;
    slot.clear();
    if (!this.readText(token)) return false;
    const bytes = decodeBase64(token);
    if (bytes === undefined) return this.#refuseToken();
    setAscii(slot, bytes.toString('base64'));
    return true;
  }

  /** A uint64 of Unix ns. What is no such number is kept as it was sent. */
  readTime(slot: TimeSlot): void {
    const integer = this.#integer;
    slot.clear();
    if (this.#readInteger() && integer.isUnsigned) slot.set(integer.high, integer.low);
    else slot.unreadable.take(this.#token);
  }

  /** @returns 0 if there is none. */
  readUint32(): number {
    const integer = this.#integer;
    if (this.#readInteger() && integer.isUnsigned && integer.high === 0) return integer.low;
    this.#refuseToken();
    return 0;
  }

  /** A `SeverityNumber`, also by its name. @returns 0 if there is none. */
  readSeverityNumber(): number {
    if (this.#readInteger() && this.#integer.isInt32) return this.#integer.low | 0;
    const { source, start, end } = this.#token;
    const number = severityNumbers.get(source.toString('latin1', start, end));
    if (number === undefined) this.#refuseToken();
    return number ?? 0;
  }

  /** Hex digits in any case; also base64, which is how proto3 JSON has other bytes. */
  readId(id: IdSlot): void {
    const token = this.#token;
    id.clear();
    if (!this.readText(token) || token.length === 0) return;
    if (token.length === 2 * id.bytes && id.setHex(token.source, token.start)) return;
    const bytes = decodeBase64(token);
    if (bytes?.length === id.bytes) {
      id.setBytes(bytes, 0);
      this.#warnings.add(logWarnings.idNotation);
    } else {
      this.#warnings.add(logWarnings.badId);
    }
  }

  /**
   * Leaves an integer in `#integer`, and the characters it was read from in `#token`.
   * @returns false where those are none of an integer; where nothing is left at all, it was told
   */
  #readInteger(): boolean {
    const token = this.#token;
    if (this.#reader.isObject()) return this.#readHalves();
    return this.#readToken() && this.#integer.read(token.source, token.start, token.end);
  }

  /** Leaves the characters of a string or number in `#token`. */
  #readToken(): boolean {
    const reader = this.#reader;
    if (reader.isString()) return this.readText(this.#token);
    const start = reader.at;
    this.#token.clear();
    if (!startsNumber(reader.peek()!)) return this.refuse();
    reader.skipScalar();
    this.#token.set(reader.bytes, start, reader.at);
    return true;
  }

  /** Reads the members of an object as the halves of one integer. */
  #readHalves(): true {
    const reader = this.#reader;
    let low = 0;
    let high = 0;
    for (let key = reader.firstKey(halfKeys); key !== noMoreKeys; key = reader.nextKey(halfKeys)) {
      if (key === half.low) low = this.#readHalf();
      else if (key === half.high) high = this.#readHalf();
      else this.passOver(key);
    }
    this.#token.clear();
    this.#integer.setHalves(high, low);
    return true;
  }

  #readHalf(): number {
    return this.#readInteger() ? this.#integer.low : 0;
  }

  /** Tells of characters that cannot be read. @returns false */
  #refuseToken(): false {
    if (this.#token.length > 0) this.#warnings.add(logWarnings.wrongType);
    return false;
  }
}

function startsNumber(byte: number): boolean {
  return byte === minus || (byte >= zero && byte <= nine);
}

function setAscii(slot: TextSlot, text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  slot.set(bytes, 0, bytes.length);
}

/** @returns undefined for text that is no base64 of whole bytes. */
function decodeBase64({ source, start, end }: TextSlot): Buffer | undefined {
  const text = source.toString('latin1', start, end);
  if (!base64Form.test(text)) return undefined;
  const digits = text.replace(/=+$/, '').length;
  return digits % 4 === 1 ? undefined : Buffer.from(text, 'base64');
}
