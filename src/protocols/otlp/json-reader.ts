/**
 * A cursor over JSON text: walks into objects and arrays on demand and tells which of the wanted
 * keys it meets. Strict wherever it goes. It knows nothing of OTLP but how its senders misspell
 * keys.
 */
import {
  closeBrace,
  closeBracket,
  comma,
  expectColon,
  failAt,
  openBrace,
  openBracket,
  quote,
  scanString,
  scanText,
  skipScalar,
  skipSpace,
  skipValue,
  unescape,
} from '../../codec/json-scanner.ts';
import { createKeyTable, findKey, type KeyTable } from '../../codec/key-table.ts';

/** The keys of one kind of object, in the order by which they are told apart. */
export interface ObjectKeys {
  readonly table: KeyTable;
  /** In lower case. */
  readonly spellings: readonly Buffer[];
}

/** @param former keys that once were what others are now; they are taken for misspelt ones. */
export function createObjectKeys(
  keys: readonly string[],
  former: readonly string[] = [],
): ObjectKeys {
  return {
    table: createKeyTable(keys),
    spellings: [...keys, ...former].map((key) => Buffer.from(key.toLowerCase())),
  };
}

/** What `firstKey` and `nextKey` return besides the place of a key in the list. */
export const unknownKey = -1;
/** Like `unknownKey`, but one of the keys is meant: `log_records`, `LogRecords`. */
export const misspeltKey = -2;
export const noMoreKeys = -3;

const underscore = 0x5f;
const letterN = 0x6e;

export class JsonReader {
  readonly bytes: Buffer;
  /** Where the cursor stands: at the first byte of a value, or right after one. */
  at: number;
  /** Keys that came again in their object, of which the last counts; as `meet` found them. */
  repeatedKeys = 0;
  readonly #view: DataView;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** The byte the next value begins with; undefined at the end of the text. */
  peek(): number | undefined {
    return this.bytes[this.at];
  }

  isObject(): boolean {
    return this.bytes[this.at] === openBrace;
  }

  isArray(): boolean {
    return this.bytes[this.at] === openBracket;
  }

  isString(): boolean {
    return this.bytes[this.at] === quote;
  }

  isNull(): boolean {
    return this.bytes[this.at] === letterN;
  }

  /**
   * Enters the object the cursor stands at.
   * @returns the key's place in `keys`, or one of the words above; the cursor stands at its value.
   * @throws AppError `malformed`, as every method
   */
  firstKey(keys: ObjectKeys): number {
    const at = skipSpace(this.bytes, this.at + 1);
    if (this.bytes[at] !== closeBrace) return this.#readKey(at, keys);
    this.at = at + 1;
    return noMoreKeys;
  }

  /** After a value: goes to the next one of the same object, or out of it. */
  nextKey(keys: ObjectKeys): number {
    const at = skipSpace(this.bytes, this.at);
    const byte = this.bytes[at];
    if (byte === comma) return this.#readKey(skipSpace(this.bytes, at + 1), keys);
    if (byte !== closeBrace) failAt(this.bytes, at, "',' or '}'");
    this.at = at + 1;
    return noMoreKeys;
  }

  /**
   * Counts a key that its object had before.
   * @param met of the same object's keys so far, 0 at first. @returns it with this one
   */
  meet(met: number, key: number): number {
    if (key < 0) return met;
    const bit = 1 << key;
    if ((met & bit) !== 0) this.repeatedKeys += 1;
    return met | bit;
  }

  /** Enters the array the cursor stands at. @returns whether there is an element to stand at. */
  firstElement(): boolean {
    const at = skipSpace(this.bytes, this.at + 1);
    const isEmpty = this.bytes[at] === closeBracket;
    this.at = isEmpty ? at + 1 : at;
    return !isEmpty;
  }

  nextElement(): boolean {
    const at = skipSpace(this.bytes, this.at);
    const byte = this.bytes[at];
    if (byte === comma) {
      this.at = skipSpace(this.bytes, at + 1);
      return true;
    }
    if (byte !== closeBracket) failAt(this.bytes, at, "',' or ']'");
    this.at = at + 1;
    return false;
  }

  /** @param depth how many levels of nesting the value may have. */
  skip(depth: number): void {
    this.at = skipValue(this.bytes, this.at, depth);
  }

  /** Passes over a number, true, false or null. */
  skipScalar(): void {
    this.at = skipScalar(this.bytes, this.at);
  }

  /**
   * Passes over the string the cursor stands at, whose characters begin one byte further.
   * @returns where they end, or the bitwise complement of it (negative) if there are escapes.
   */
  skipString(): number {
    const scanned = scanText(this.bytes, this.#view, this.at + 1);
    this.at = (scanned < 0 ? ~scanned : scanned) + 1;
    return scanned;
  }

  #readKey(at: number, keys: ObjectKeys): number {
    const bytes = this.bytes;
    if (bytes[at] !== quote) failAt(bytes, at, 'a key in quotes');
    const scanned = scanString(bytes, at + 1);
    if (scanned >= 0) {
      this.at = expectColon(bytes, scanned + 1);
      return lookUp(keys, bytes, at + 1, scanned);
    }
    this.at = expectColon(bytes, ~scanned + 1);
    const key = Buffer.allocUnsafe(~scanned - at);
    return lookUp(keys, key, 0, unescape(bytes, at + 1, ~scanned, key));
  }
}

function lookUp(keys: ObjectKeys, source: Buffer, start: number, end: number): number {
  const known = findKey(keys.table, source, start, end);
  if (known >= 0) return known;
  for (const spelling of keys.spellings) {
    if (isLike(spelling, source, start, end)) return misspeltKey;
  }
  return unknownKey;
}

/** Whether a key is spelt like that but for capitals and underscores. */
function isLike(spelling: Buffer, source: Buffer, start: number, end: number): boolean {
  let matched = 0;
  for (let at = start; at < end; at += 1) {
    const byte = source[at]!;
    if (byte === underscore) continue;
    if (spelling[matched] !== (byte | 0x20)) return false;
    matched += 1;
  }
  return matched === spelling.length;
}
