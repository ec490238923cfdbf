/**
 * Reads texts, attributes and values (`opentelemetry.proto.common.v1`) from protobuf. Valid UTF-8
 * is referenced in the body; other values are written to a `ValueText`.
 */
import { isUtf8 } from 'node:buffer';
import { type ProtobufWire, toTag, wireType } from '../../codec/protobuf-wire.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import {
  type Attributed,
  type IdSlot,
  logWarnings,
  TextSlot,
  type WarningCounts,
} from './log-record.ts';
import { failTooDeep, type ValueText } from './value-text.ts';

const { varint, fixed64, bytes } = wireType;

const keyValueTags = {
  key: toTag(1, bytes),
  value: toTag(2, bytes),
  /** Index into a string table, which only profiles have. */
  keyIndex: toTag(3, varint),
};
/** The members of the one `oneof` of `AnyValue`. */
const valueTags = {
  string: toTag(1, bytes),
  bool: toTag(2, varint),
  int: toTag(3, varint),
  double: toTag(4, fixed64),
  array: toTag(5, bytes),
  map: toTag(6, bytes),
  bytes: toTag(7, bytes),
} as const;
/** Not supported: index into the string table of profiles. */
const stringIndexTag = toTag(8, varint);
/** In both `ArrayValue` and `KeyValueList`. */
const elementTag = toTag(1, bytes);

const isMember = new Uint8Array(Math.max(...Object.values(valueTags)) + 1);
for (const tag of Object.values(valueTags)) isMember[tag] = 1;
/** A value without a member. */
const noTag = 0;
/** A key without a value. */
const noValue = -1;
/** For longer texts `isUtf8` is faster than a loop. */
const quickTextBytes = 256;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** A member of an `AnyValue`. */
interface Member {
  readonly tag: number;
  readonly end: number;
  readonly depth: number;
}

export interface ValuesOptions extends Pick<DecodeLimits, 'maxDepth'> {
  /** All texts are valid UTF-8: they need no check. */
  readonly hasValidText?: boolean;
}

export class ProtobufValues {
  /** The text read last. */
  readonly text = new TextSlot();
  readonly #wire: ProtobufWire;
  readonly #warnings: WarningCounts;
  readonly #maxDepth: number;
  readonly #hasValidText: boolean;

  constructor(wire: ProtobufWire, warnings: WarningCounts, options: ValuesOptions) {
    this.#wire = wire;
    this.#warnings = warnings;
    this.#maxDepth = options.maxDepth;
    this.#hasValidText = options.hasValidText === true;
  }

  /** Sets `text` to the bytes from the cursor to `end`, as valid UTF-8. */
  readText(end: number): void {
    const { bytes: source, at: start } = this.#wire;
    this.#wire.at = end;
    if (this.#isText(start, end)) {
      this.text.set(source, start, end);
      return;
    }
    this.#warnings.add(logWarnings.brokenText);
    const repaired = Buffer.from(source.toString('utf8', start, end));
    this.text.set(repaired, 0, repaired.length);
  }

  /** Reads an id from the cursor to `end`. Some senders put hex digits into the bytes field. */
  readId(id: IdSlot, end: number): void {
    const { bytes: source, at: start } = this.#wire;
    this.#wire.at = end;
    const length = end - start;
    id.clear();
    if (length === id.bytes) return id.setBytes(source, start);
    if (length === 0) return;
    const isHex = length === 2 * id.bytes && id.setHex(source, start);
    this.#warnings.add(isHex ? logWarnings.idNotation : logWarnings.badId);
  }

  /** Reads a `KeyValue`, starting at its length. */
  readAttribute({ attributes, texts }: Attributed, end: number): void {
    const wire = this.#wire;
    const entryEnd = wire.lengthEnd(end);
    const value = attributes.isFull ? noValue : this.#seekValue(entryEnd);
    const index = attributes.add(this.text.source, this.text.start, this.text.end);
    if (value !== noValue) {
      wire.at = value;
      this.readValue(texts, wire.lengthEnd(entryEnd));
      attributes.set(index, this.text.source, this.text.start, this.text.end);
    }
    wire.at = entryEnd;
  }

  /** Sets `text` to the top-level `AnyValue` from the cursor to `end`. */
  readValue(texts: ValueText, end: number): void {
    const wire = this.#wire;
    const tag = this.#seekMember(end);
    if (tag === noTag) {
      this.text.clear();
    } else if (tag === valueTags.string) {
      this.readText(wire.lengthEnd(end));
    } else {
      const start = texts.length;
      this.#writeMember(texts, { tag, end, depth: 0 });
      this.text.set(texts.bytes, start, texts.length);
    }
    wire.at = end;
  }

  #isText(start: number, end: number): boolean {
    if (this.#hasValidText) return true;
    if (end - start <= quickTextBytes && this.#wire.isAscii(start, end)) return true;
    return isUtf8(this.#wire.bytes.subarray(start, end));
  }

  /**
   * Sets `text` to the key of a `KeyValue`.
   * @returns the position of the length of its value, or `noValue`
   */
  #seekValue(end: number): number {
    const wire = this.#wire;
    let value = noValue;
    this.text.clear();
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === keyValueTags.key) {
        this.readText(wire.lengthEnd(end));
        continue;
      }
      if (tag === keyValueTags.value) value = wire.at;
      else if (tag === keyValueTags.keyIndex) this.#warnings.add(logWarnings.stringTable);
      wire.skip(tag, end);
    }
    return value;
  }

  /**
   * Moves the cursor to the last member of an `AnyValue`: the last one counts.
   * @returns its tag, or `noTag`
   */
  #seekMember(end: number): number {
    const wire = this.#wire;
    let member = noTag;
    let at = wire.at;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (isMember[tag] === 1) {
        member = tag;
        at = wire.at;
      } else if (tag === stringIndexTag) {
        this.#warnings.add(logWarnings.stringTable);
      }
      wire.skip(tag, end);
    }
    wire.at = at;
    return member;
  }

  /** Writes the member at the cursor. */
  #writeMember(texts: ValueText, { tag, end, depth }: Member): void {
    const wire = this.#wire;
    switch (tag) {
      case valueTags.bool:
        wire.varint(end);
        return texts.ascii((wire.low | wire.high) === 0 ? 'false' : 'true');
      case valueTags.int:
        wire.varint(end);
        return texts.integer(wire.high, wire.low);
      case valueTags.double:
        return texts.double(wire.double(end));
      case valueTags.bytes: {
        const valueEnd = wire.lengthEnd(end);
        return texts.base64(wire.bytes, wire.at, valueEnd);
      }
      default:
        if (depth >= this.#maxDepth) failTooDeep(this.#maxDepth);
        return this.#writeElements(texts, { tag, end: wire.lengthEnd(end), depth });
    }
  }

  /** The elements of an array or map. @param end of the `ArrayValue` or `KeyValueList`. */
  #writeElements(texts: ValueText, { tag, end, depth }: Member): void {
    const wire = this.#wire;
    const isMap = tag === valueTags.map;
    let isFirst = true;
    texts.byte(isMap ? openBrace : openBracket);
    while (wire.at < end) {
      const field = wire.tag(end);
      if (field !== elementTag) {
        wire.skip(field, end);
        continue;
      }
      const elementEnd = wire.lengthEnd(end);
      if (!texts.takeElement()) break;
      if (!isFirst) texts.byte(comma);
      isFirst = false;
      if (isMap) this.#writeEntry(texts, elementEnd, depth + 1);
      else this.#writeNested(texts, elementEnd, depth + 1);
      wire.at = elementEnd;
    }
    texts.byte(isMap ? closeBrace : closeBracket);
  }

  /** A `KeyValue` of a map. */
  #writeEntry(texts: ValueText, end: number, depth: number): void {
    const wire = this.#wire;
    const value = this.#seekValue(end);
    texts.quoted(this.text.source, this.text.start, this.text.end);
    texts.byte(colon);
    if (value === noValue) {
      texts.ascii('null');
      return;
    }
    wire.at = value;
    this.#writeNested(texts, wire.lengthEnd(end), depth);
  }

  /** A nested `AnyValue`. */
  #writeNested(texts: ValueText, end: number, depth: number): void {
    const wire = this.#wire;
    const tag = this.#seekMember(end);
    switch (tag) {
      case noTag:
        return texts.ascii('null');
      case valueTags.string:
        this.readText(wire.lengthEnd(end));
        return texts.quoted(this.text.source, this.text.start, this.text.end);
      case valueTags.bytes:
        texts.byte(quote);
        this.#writeMember(texts, { tag, end, depth });
        return texts.byte(quote);
      case valueTags.double:
        return texts.nestedDouble(wire.double(end));
      default:
        return this.#writeMember(texts, { tag, end, depth });
    }
  }
}
