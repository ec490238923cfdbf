/**
 * A cursor over JSON text that enters objects and arrays on demand and recognises wanted keys,
 * including common misspellings by OTLP senders.
 */
import {
  closeBrace,
  closeBracket,
  comma,
  enterValue,
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

/** The keys of one kind of object. */
export interface ObjectKeys {
  readonly table: KeyTable;
  /** In lower case. */
  readonly spellings: readonly Buffer[];
}

/** @param former keys of older versions; treated as misspelt */
export function createObjectKeys(
  keys: readonly string[],
  former: readonly string[] = [],
): ObjectKeys {
  return {
    table: createKeyTable(keys),
    spellings: [...keys, ...former].map((key) => Buffer.from(key.toLowerCase())),
  };
}

/** Results of `firstKey` and `nextKey` besides the index of a key. */
const unknownKey = -1;
/** A key that differs in case or underscores: `log_records`, `LogRecords`. */
export const misspeltKey = -2;
export const noMoreKeys = -3;

const underscore = 0x5f;
const letterN = 0x6e;

export class JsonReader {
  readonly bytes: Buffer;
  /** Position: at the first byte of a value, or right after a value. */
  at: number;
  /** Number of repeated keys, as counted by `meet`. */
  repeatedKeys = 0;
  readonly #view: DataView;
  /** Further levels of nesting allowed at the cursor. */
  #levels: number;

  constructor(bytes: Buffer, at: number, levels: number) {
    this.bytes = bytes;
    this.at = at;
    this.#levels = levels;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** First byte of the next value; undefined at the end of the text. */
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
   * Enters the object at the cursor and moves to the value of its first key.
   * @returns the index of the key in `keys`, or one of the constants above
   * @throws AppError `malformed`, like every method
   */
  firstKey(keys: ObjectKeys): number {
    const at = this.#enter();
    return this.bytes[at] === closeBrace ? this.#leaveObject(at) : this.#readKey(at, keys);
  }

  /** After a value: moves to the next value of the object, or leaves the object. */
  nextKey(keys: ObjectKeys): number {
    const at = skipSpace(this.bytes, this.at);
    const byte = this.bytes[at];
    if (byte === comma) return this.#readKey(skipSpace(this.bytes, at + 1), keys);
    if (byte !== closeBrace) failAt(this.bytes, at, "',' or '}'");
    return this.#leaveObject(at);
  }

  /**
   * Counts repeated keys of one object.
   * @param met bits of the keys so far, 0 at first @returns the bits with this key
   */
  meet(met: number, key: number): number {
    if (key < 0) return met;
    const bit = 1 << key;
    if ((met & bit) !== 0) this.repeatedKeys += 1;
    return met | bit;
  }

  /** Enters the array at the cursor. @returns whether it has an element */
  firstElement(): boolean {
    const at = this.#enter();
    if (this.bytes[at] === closeBracket) return this.#leaveArray(at);
    this.at = at;
    return true;
  }

  nextElement(): boolean {
    const at = skipSpace(this.bytes, this.at);
    const byte = this.bytes[at];
    if (byte === comma) {
      this.at = skipSpace(this.bytes, at + 1);
      return true;
    }
    if (byte !== closeBracket) failAt(this.bytes, at, "',' or ']'");
    return this.#leaveArray(at);
  }

  skip(): void {
    this.at = skipValue(this.bytes, this.at, this.#levels);
  }

  /** Skips a number, true, false or null. */
  skipScalar(): void {
    this.at = skipScalar(this.bytes, this.at);
  }

  /**
   * Skips the string at the cursor.
   * @returns the end of its characters, or its bitwise complement (negative) if it has escapes
   */
  skipString(): number {
    const scanned = scanText(this.bytes, this.#view, this.at + 1);
    this.at = (scanned < 0 ? ~scanned : scanned) + 1;
    return scanned;
  }

  #enter(): number {
    const at = enterValue(this.bytes, this.at, this.#levels);
    this.#levels -= 1;
    return at;
  }

  #leaveObject(at: number): typeof noMoreKeys {
    this.#levels += 1;
    this.at = at + 1;
    return noMoreKeys;
  }

  #leaveArray(at: number): false {
    this.#levels += 1;
    this.at = at + 1;
    return false;
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

/** Whether a key equals the spelling without case and underscores. */
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
