/**
 * Reads scalar fields of OTLP from validated JSON, in all forms that the mapping allows and senders
 * use (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). A value of a wrong type
 * is dropped with a warning.
 */
import { unescape } from '../../codec/json-scanner.ts';
import { Integer64, isShortestDecimal, isShortestInteger } from './json-number.ts';
import { createObjectKeys, type JsonReader, misspeltKey, noMoreKeys } from './json-reader.ts';
import {
  type IdSlot,
  logWarnings,
  TextSlot,
  type TimeSlot,
  type WarningCounts,
} from './log-record.ts';

/** Warnings for JSON only. */
export const jsonWarnings = {
  misspeltKey: 'key not in lowerCamelCase, or of an older OTLP, left out',
  otherSignal: 'traces, metrics or profiles, left out: this address takes logs',
  repeatedKey: 'key repeated in one object, what came before its last value left out',
} as const;

/** The first pass has checked the depth. */
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

  /** Skips an unwanted member. @param key as returned by the reader */
  skipMember(key: number): void {
    if (key === misspeltKey) this.#warnings.add(jsonWarnings.misspeltKey);
    this.#reader.skip(anyDepth);
  }

  /** Skips a value of a wrong type with a warning. @returns false */
  refuse(): false {
    if (!this.#reader.isNull()) this.#warnings.add(logWarnings.wrongType);
    this.#reader.skip(anyDepth);
    return false;
  }

  /** @returns false with an empty slot if there is none, like every method */
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

  /** Sets `true` or `false`. */
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

  /** Sets the decimal digits of an int64. */
  readInt(slot: TextSlot): boolean {
    const integer = this.#integer;
    const token = this.#token;
    slot.clear();
    if (!this.#readInteger() || !integer.isSigned) return this.#refuseToken();
    if (isShortestInteger(token.source, token.start, token.end)) slot.take(token);
    else setAscii(slot, String((BigInt(integer.high | 0) << 32n) | BigInt(integer.low)));
    return true;
  }

  /** Sets the number as JavaScript writes it, or `NaN`, `Infinity`, `-Infinity`. */
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

  /** Sets padded base64 of the standard alphabet; reads either alphabet. */
  readBytes(slot: TextSlot): boolean {
    const token = this.#token;
    slot.clear();
    if (!this.readText(token)) return false;
    const bytes = decodeBase64(token);
    if (bytes === undefined) return this.#refuseToken();
    setAscii(slot, bytes.toString('base64'));
    return true;
  }

  /** A uint64 of Unix ns. Other text is kept as sent. */
  readTime(slot: TimeSlot): void {
    const integer = this.#integer;
    slot.clear();
    if (this.#readInteger() && integer.isUnsigned) slot.set(integer.high, integer.low);
    else slot.unreadable.take(this.#token);
  }

  /** @returns 0 if there is none */
  readUint32(): number {
    const integer = this.#integer;
    if (this.#readInteger() && integer.isUnsigned && integer.high === 0) return integer.low;
    this.#refuseToken();
    return 0;
  }

  /** An int32, or an enum by number or name. @returns 0 if there is none */
  readEnum(names: ReadonlyMap<string, number>): number {
    if (this.#readInteger() && this.#integer.isInt32) return this.#integer.low | 0;
    const { source, start, end } = this.#token;
    const number = names.get(source.toString('latin1', start, end));
    if (number === undefined) this.#refuseToken();
    return number ?? 0;
  }

  readSeverityNumber(): number {
    return this.readEnum(severityNumbers);
  }

  /** Sets the halves of an int64 or uint64. */
  readInt64(slot: TimeSlot, isSigned: boolean): boolean {
    const integer = this.#integer;
    const isRead = this.#readInteger() && (isSigned ? integer.isSigned : integer.isUnsigned);
    if (!isRead) return this.#refuseToken();
    slot.set(integer.high, integer.low);
    return true;
  }

  /** Hex digits in any case, or base64 as for other bytes of proto3 JSON. */
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
   * Reads an integer into `#integer` and its text into `#token`.
   * @returns false if the text is not an integer; an empty text has its warning already
   */
  #readInteger(): boolean {
    const token = this.#token;
    if (this.#reader.isObject()) return this.#readHalves();
    return this.#readToken() && this.#integer.read(token.source, token.start, token.end);
  }

  /** Reads the text of a string or number into `#token`. */
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

  /** Reads an integer from an object with two halves. */
  #readHalves(): true {
    const reader = this.#reader;
    let low = 0;
    let high = 0;
    for (let key = reader.firstKey(halfKeys); key !== noMoreKeys; key = reader.nextKey(halfKeys)) {
      if (key === half.low) low = this.#readHalf();
      else if (key === half.high) high = this.#readHalf();
      else this.skipMember(key);
    }
    this.#token.clear();
    this.#integer.setHalves(high, low);
    return true;
  }

  #readHalf(): number {
    return this.#readInteger() ? this.#integer.low : 0;
  }

  /** Warns about unreadable text. @returns false */
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

/** @returns undefined if the text is not base64 of whole bytes */
function decodeBase64({ source, start, end }: TextSlot): Buffer | undefined {
  const text = source.toString('latin1', start, end);
  if (!base64Form.test(text)) return undefined;
  const digits = text.replace(/=+$/, '').length;
  return digits % 4 === 1 ? undefined : Buffer.from(text, 'base64');
}
