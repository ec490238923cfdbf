/**
 * Copies scalar fields of OTLP from JSON to protobuf, in all forms that the mapping allows and
 * senders use (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). A value of a
 * wrong type is dropped with a warning.
 */
import { unescape } from '../../codec/json-scanner.ts';
import { toTag, wireType } from '../../codec/protobuf-wire.ts';
import { Integer64 } from './json-number.ts';
import { maxAttributes } from './attribute-set.ts';
import { createObjectKeys, type JsonReader, misspeltKey, noMoreKeys } from './json-reader.ts';
import { logWarnings, TextSlot, timeKeys, type WarningCounts } from './log-record.ts';
import type { MessageBuilder } from './message-builder.ts';
import { type FieldType, recordAttributes } from './messages.ts';

/** Warnings for JSON only. */
export const jsonWarnings = {
  misspeltKey: 'key not in lowerCamelCase, or of an older OTLP, left out',
  notLogs: 'traces, metrics or profiles, left out: this address takes logs',
  notMetrics: 'logs, traces or profiles, left out: this address takes metrics',
  repeatedKey: 'key repeated in one object: lists joined, of other values the last one kept',
} as const;

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
const noNames: ReadonlyMap<string, number> = new Map();
const temporalities: ReadonlyMap<string, number> = new Map([
  ['AGGREGATION_TEMPORALITY_UNSPECIFIED', 0],
  ['AGGREGATION_TEMPORALITY_DELTA', 1],
  ['AGGREGATION_TEMPORALITY_CUMULATIVE', 2],
]);
const severityNumbers: ReadonlyMap<string, number> = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((word, i) =>
    ['', '2', '3', '4'].map((step, j): [string, number] => [
      `SEVERITY_NUMBER_${word}${step}`,
      4 * i + j + 1,
    ]),
  ),
]);

export class JsonFields {
  /** Attributes of the current message. */
  attributes = 0;
  readonly #reader: JsonReader;
  readonly #builder: MessageBuilder;
  readonly #warnings: WarningCounts;
  readonly #integer = new Integer64();
  readonly #token = new TextSlot();

  constructor(reader: JsonReader, builder: MessageBuilder, warnings: WarningCounts) {
    this.#reader = reader;
    this.#builder = builder;
    this.#warnings = warnings;
  }

  /** Skips an unwanted member. @param key as returned by the reader */
  skipMember(key: number): void {
    if (key === misspeltKey) this.#warnings.add(jsonWarnings.misspeltKey);
    this.#reader.skip();
  }

  /** Skips a value of a wrong type with a warning; null counts as absent. */
  refuse(): void {
    if (!this.#reader.isNull()) this.#warnings.add(logWarnings.wrongType);
    this.#reader.skip();
  }

  /** Counts an attribute. @returns whether the reader leaves it out */
  isLeftOut(): boolean {
    this.attributes += 1;
    return this.attributes > maxAttributes;
  }

  /** Copies the value at the cursor to a field. */
  copy(number: number, type: FieldType): void {
    switch (type) {
      case 'text':
        if (this.#readText()) this.#writeToken(number);
        return;
      case 'bool':
        return this.#copyBool(number);
      case 'double':
        return this.#copyDouble(number);
      case 'bytes':
        return this.#copyBytes(number);
      case 'traceId':
        return this.#copyId(number, 16);
      case 'spanId':
        return this.#copyId(number, 8);
      case 'notLogs':
      case 'notMetrics':
        this.#warnings.add(jsonWarnings[type]);
        return this.#reader.skip();
      default:
        return this.#copyInteger(number, type);
    }
  }

  #copyInteger(number: number, type: FieldType): void {
    const builder = this.#builder;
    const integer = this.#integer;
    switch (type) {
      case 'time':
      case 'observedTime':
        if (this.#readInteger() && integer.isUnsigned) this.#writeFixed64(number);
        else if (this.#token.length > 0) this.#keepTime(timeKeys[type]);
        return;
      case 'severityNumber':
        return builder.varint(number, this.#readEnum(severityNumbers), 0);
      case 'temporality':
        return builder.varint(number, this.#readEnum(temporalities), 0);
      case 'uint32':
        return builder.varint(number, this.#readUint32(), 0);
      case 'fixed32':
        return builder.fixed32(number, this.#readUint32());
      case 'sint32': {
        const value = this.#readEnum(noNames);
        return builder.varint(number, (value << 1) ^ (value >> 31), 0);
      }
      default:
    }
    const isSigned = type === 'int64' || type === 'sfixed64';
    if (!this.#readInteger() || !(isSigned ? integer.isSigned : integer.isUnsigned)) {
      this.#refuseToken();
    } else if (type === 'fixed64' || type === 'sfixed64') {
      this.#writeFixed64(number);
    } else {
      builder.varint(number, integer.low, integer.high);
    }
  }

  #copyBool(number: number): void {
    const first = this.#reader.peek();
    if (first !== letterT && first !== letterF) return this.refuse();
    this.#reader.skipScalar();
    this.#builder.varint(number, first === letterT ? 1 : 0, 0);
  }

  #copyDouble(number: number): void {
    const isText = this.#reader.isString();
    if (!this.#readToken()) return;
    const text = this.#token.latin1();
    if (isText && !numberForm.test(text) && !notFinite.has(text)) return this.#refuseToken();
    this.#builder.double(number, Number(text));
  }

  /** Reads base64 of either alphabet. */
  #copyBytes(number: number): void {
    if (!this.#readText()) return;
    const bytes = decodeBase64(this.#token.latin1());
    if (bytes === undefined) this.#refuseToken();
    else this.#builder.bytes(number, bytes, 0, bytes.length);
  }

  /** Hex digits in any case, or base64 as for other bytes of proto3 JSON. */
  #copyId(number: number, size: number): void {
    const token = this.#token;
    if (!this.#readText() || token.length === 0) return;
    const isHex = token.length === 2 * size;
    if (isHex && this.#builder.hex(number, token.source, token.start, size)) return;
    const bytes = decodeBase64(token.latin1());
    if (bytes?.length === size) {
      this.#builder.bytes(number, bytes, 0, size);
      this.#warnings.add(logWarnings.idNotation);
    } else {
      this.#warnings.add(logWarnings.badId);
    }
  }

  /** Writes `#token` as an attribute of the record. */
  #keepTime(key: Buffer): void {
    const builder = this.#builder;
    this.#warnings.add(logWarnings.timeForm);
    const attribute = builder.open(toTag(recordAttributes, wireType.bytes), 1);
    if (!this.isLeftOut()) {
      builder.bytes(1, key, 0, key.length);
      const value = builder.open(toTag(2, wireType.bytes), 1);
      this.#writeToken(1);
      builder.close(value, 1);
    }
    builder.close(attribute, 1);
  }

  #writeToken(number: number): void {
    const { source, start, end } = this.#token;
    this.#builder.bytes(number, source, start, end);
  }

  #writeFixed64(number: number): void {
    this.#builder.fixed64(number, this.#integer.low, this.#integer.high);
  }

  /** @returns 0 if there is none */
  #readUint32(): number {
    const integer = this.#integer;
    if (this.#readInteger() && integer.isUnsigned && integer.high === 0) return integer.low;
    this.#refuseToken();
    return 0;
  }

  /** An int32, or an enum by number or name. @returns 0 if there is none */
  #readEnum(names: ReadonlyMap<string, number>): number {
    if (this.#readInteger() && this.#integer.isInt32) return this.#integer.low | 0;
    const number = names.get(this.#token.latin1());
    if (number === undefined) this.#refuseToken();
    return number ?? 0;
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

  /** Reads the text of a string or number into `#token`. */
  #readToken(): boolean {
    const reader = this.#reader;
    const first = reader.peek()!;
    if (first !== minus && !(first >= zero && first <= nine)) return this.#readText();
    const start = reader.at;
    reader.skipScalar();
    this.#token.set(reader.bytes, start, reader.at);
    return true;
  }

  /** @returns false with an empty `#token` if there is no string */
  #readText(): boolean {
    const reader = this.#reader;
    const token = this.#token;
    token.clear();
    if (!reader.isString()) {
      this.refuse();
      return false;
    }
    const start = reader.at + 1;
    const scanned = reader.skipString();
    if (scanned >= 0) {
      token.set(reader.bytes, start, scanned);
      return true;
    }
    const text = Buffer.allocUnsafe(~scanned - start);
    token.set(text, 0, unescape(reader.bytes, start, ~scanned, text));
    return true;
  }

  /** Warns about unreadable text. */
  #refuseToken(): void {
    if (this.#token.length > 0) this.#warnings.add(logWarnings.wrongType);
  }
}

/** @returns undefined if the text is not base64 of whole bytes */
function decodeBase64(text: string): Buffer | undefined {
  if (!base64Form.test(text)) return undefined;
  const digits = text.replace(/=+$/, '').length;
  return digits % 4 === 1 ? undefined : Buffer.from(text, 'base64');
}
