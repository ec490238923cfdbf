/**
 * Reads `opentelemetry.proto.common.v1.AnyValue` and lists of `KeyValue` from validated JSON into
 * texts of `ValueText`. The last of repeated keys and members counts; null counts as absent.
 */
import { createObjectKeys, type JsonReader, noMoreKeys, unknownKey } from './json-reader.ts';
import { JsonScalars } from './json-scalars.ts';
import { type Attributed, logWarnings, TextSlot, type WarningCounts } from './log-record.ts';
import { failTooDeep, type ValueText } from './value-text.ts';

/** Indices into the list of keys. */
const kind = {
  string: 0,
  bool: 1,
  int: 2,
  double: 3,
  array: 4,
  map: 5,
  bytes: 6,
  stringIndex: 7,
} as const;
const valueKeys = createObjectKeys([
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
  // Index into a string table, which only profiles have.
  'stringValueStrindex',
]);
const entryKeys = createObjectKeys(['key', 'value', 'keyStrindex']);
const entry = { key: 0, value: 1, keyIndex: 2 } as const;
const listKeys = createObjectKeys(['values']);
const values = 0;

const nine = 0x39;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export class JsonValues {
  readonly scalars: JsonScalars;
  readonly #reader: JsonReader;
  readonly #warnings: WarningCounts;
  readonly #maxDepth: number;
  readonly #key = new TextSlot();
  readonly #value = new TextSlot();

  constructor(reader: JsonReader, warnings: WarningCounts, maxDepth: number) {
    this.scalars = new JsonScalars(reader, warnings);
    this.#reader = reader;
    this.#warnings = warnings;
    this.#maxDepth = maxDepth;
  }

  /** Replaces the attributes of the owner by a list of `KeyValue`. */
  readAttributes(owner: Attributed): void {
    const reader = this.#reader;
    owner.attributes.clear();
    if (!reader.isArray()) {
      this.scalars.refuse();
      return;
    }
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      if (reader.isObject()) this.#readAttribute(owner);
      else this.scalars.refuse();
    }
  }

  /** A top-level `AnyValue`. @returns false if there is none */
  readValue(slot: TextSlot, texts: ValueText): boolean {
    const reader = this.#reader;
    slot.clear();
    if (!reader.isObject()) return this.scalars.refuse();
    let key = reader.firstKey(valueKeys);
    for (; key !== noMoreKeys; key = reader.nextKey(valueKeys)) {
      if (!this.#isMember(key)) continue;
      if (key === kind.array || key === kind.map) {
        const start = texts.length;
        this.#writeList(texts, key, 0);
        slot.set(texts.bytes, start, texts.length);
      } else {
        this.#readScalar(slot, key);
      }
    }
    return true;
  }

  #readAttribute({ attributes, texts }: Attributed): void {
    const reader = this.#reader;
    const key = this.#key;
    const value = this.#value;
    let hasValue = false;
    key.clear();
    if (attributes.isFull) {
      this.scalars.skipMember(unknownKey);
    } else {
      let member = reader.firstKey(entryKeys);
      for (; member !== noMoreKeys; member = reader.nextKey(entryKeys)) {
        if (member === entry.key) this.scalars.readText(key);
        else if (member === entry.value) hasValue = this.readValue(value, texts);
        else this.#skipEntryMember(member);
      }
    }
    const index = attributes.add(key.source, key.start, key.end);
    if (hasValue) attributes.set(index, value.source, value.start, value.end);
  }

  /** Skips unknown members and null. @returns whether a member of a value follows */
  #isMember(key: number): boolean {
    if (key >= 0 && key !== kind.stringIndex && !this.#reader.isNull()) return true;
    if (key === kind.stringIndex) this.#warnings.add(logWarnings.stringTable);
    this.scalars.skipMember(key);
    return false;
  }

  #readScalar(slot: TextSlot, key: number): boolean {
    switch (key) {
      case kind.string:
        return this.scalars.readText(slot);
      case kind.bool:
        return this.scalars.readBool(slot);
      case kind.int:
        return this.scalars.readInt(slot);
      case kind.double:
        return this.scalars.readDouble(slot);
      default:
        return this.scalars.readBytes(slot);
    }
  }

  /**
   * Writes an `ArrayValue` or `KeyValueList`, or nothing if there is none.
   * @param depth number of enclosing arrays and maps
   */
  #writeList(texts: ValueText, key: number, depth: number): void {
    const reader = this.#reader;
    const start = texts.length;
    if (!reader.isObject()) {
      this.scalars.refuse();
      return;
    }
    if (depth >= this.#maxDepth) failTooDeep(this.#maxDepth);
    const isMap = key === kind.map;
    texts.ascii(isMap ? '{}' : '[]');
    let member = reader.firstKey(listKeys);
    for (; member !== noMoreKeys; member = reader.nextKey(listKeys)) {
      if (member !== values) {
        this.scalars.skipMember(member);
      } else if (!reader.isArray()) {
        this.scalars.refuse();
      } else {
        texts.truncate(start);
        if (isMap) this.#writeEntries(texts, depth + 1);
        else this.#writeElements(texts, depth + 1);
      }
    }
  }

  #writeElements(texts: ValueText, depth: number): void {
    const reader = this.#reader;
    texts.byte(openBracket);
    let isFirst = true;
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      if (!texts.takeElement()) {
        this.scalars.skipMember(unknownKey);
        continue;
      }
      if (!isFirst) texts.byte(comma);
      isFirst = false;
      this.#writeValue(texts, depth);
    }
    texts.byte(closeBracket);
  }

  #writeEntries(texts: ValueText, depth: number): void {
    const reader = this.#reader;
    const start = texts.length;
    texts.byte(openBrace);
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      if (!texts.takeElement()) {
        this.scalars.skipMember(unknownKey);
        continue;
      }
      if (!reader.isObject()) {
        this.scalars.refuse();
        continue;
      }
      if (texts.length > start + 1) texts.byte(comma);
      this.#writeEntry(texts, depth);
    }
    texts.byte(closeBrace);
  }

  /** A `KeyValue` of a map. Its members may be repeated and in any order. */
  #writeEntry(texts: ValueText, depth: number): void {
    const reader = this.#reader;
    const start = texts.length;
    // Not shared: entries within the value have keys too.
    const key = new TextSlot();
    let valueAt = start;
    let isKeyWritten = false;
    let member = reader.firstKey(entryKeys);
    for (; member !== noMoreKeys; member = reader.nextKey(entryKeys)) {
      if (member === entry.key) {
        this.scalars.readText(key);
        isKeyWritten = texts.length === start;
        if (isKeyWritten) valueAt = writeKey(texts, key);
      } else if (member === entry.value) {
        texts.truncate(valueAt);
        this.#writeValue(texts, depth);
      } else {
        this.#skipEntryMember(member);
      }
    }
    if (texts.length === start) {
      valueAt = writeKey(texts, key);
    } else if (!isKeyWritten) {
      const value = Buffer.from(texts.bytes.subarray(valueAt, texts.length));
      texts.truncate(start);
      valueAt = writeKey(texts, key);
      texts.raw(value, 0, value.length);
    }
    if (texts.length === valueAt) texts.ascii('null');
  }

  /** A nested `AnyValue`. */
  #writeValue(texts: ValueText, depth: number): void {
    const reader = this.#reader;
    const start = texts.length;
    if (reader.isObject()) {
      let key = reader.firstKey(valueKeys);
      for (; key !== noMoreKeys; key = reader.nextKey(valueKeys)) {
        if (!this.#isMember(key)) continue;
        texts.truncate(start);
        if (key === kind.array || key === kind.map) this.#writeList(texts, key, depth);
        else if (this.#readScalar(this.#value, key)) this.#writeScalar(texts, key);
      }
    } else {
      this.scalars.refuse();
    }
    if (texts.length === start) texts.ascii('null');
  }

  #writeScalar(texts: ValueText, key: number): void {
    const { source, start, end } = this.#value;
    const isWord = key === kind.double && source[end - 1]! > nine;
    if (isWord || key === kind.string || key === kind.bytes) texts.quoted(source, start, end);
    else texts.raw(source, start, end);
  }

  #skipEntryMember(member: number): void {
    if (member === entry.keyIndex) this.#warnings.add(logWarnings.stringTable);
    this.scalars.skipMember(member);
  }
}

/** @returns the position of the value */
function writeKey(texts: ValueText, key: TextSlot): number {
  texts.quoted(key.source, key.start, key.end);
  texts.byte(colon);
  return texts.length;
}
