/**
 * Rewrites an export request from JSON to protobuf in one walk over the text, so that both
 * encodings have one reader (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 * Resources and scopes may follow their records, which only protobuf can skip by their length.
 * Lists and messages under a key that is repeated in one object are joined, as in protobuf.
 */
import { isUtf8 } from 'node:buffer';
import { failAt, skipSpace } from '../../codec/json-scanner.ts';
import { toTag, wireType } from '../../codec/protobuf-wire.ts';
import { sliceBytes, type Slices } from '../../codec/sliced-decoder.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { JsonFields, jsonWarnings } from './json-fields.ts';
import { JsonReader, noMoreKeys } from './json-reader.ts';
import { logWarnings, type WarningCounts } from './log-record.ts';
import { MessageBuilder } from './message-builder.ts';
import { type Field, keyValue, type Message, nestedEntry, nestedValue } from './messages.ts';

/** Levels of JSON around the value of an attribute, and per nested value. */
const levelsAboveValues = 24;
const levelsPerValue = 4;
/** Records are read recursively; the stack has room for twice as many levels. */
const maxLevels = 1500;
/** Tag and length before the content of a message. */
const openBytes = 6;
/** By which an empty message shrinks when it is closed. */
const shrinkBytes = 4;

export interface RewriteLimits extends Pick<DecodeLimits, 'maxDepth'> {
  /** The reader does not look into a larger resource, scope, log record or data point. */
  readonly maxMessageBytes: number;
  /** The reader stops after so many elements of arrays and maps in one of these messages. */
  readonly maxElements: number;
}

/**
 * Does not write what the reader would not reach because of these limits, so that it refuses the
 * record as it does in protobuf. @throws AppError `malformed`
 */
export function* toProtobuf(
  body: Buffer,
  request: Message,
  warnings: WarningCounts,
  limits: RewriteLimits,
): Slices<Buffer> {
  const text = isUtf8(body) ? body : yield* repairText(body, warnings);
  const levels = Math.min(levelsAboveValues + limits.maxDepth * levelsPerValue, maxLevels);
  const reader = new JsonReader(text, findStart(text), levels);
  if (!reader.isObject()) failAt(text, reader.at, 'an object');
  const builder = new MessageBuilder(text.length);
  const fields = new JsonFields(reader, builder, warnings);
  yield* new Rewriting({ reader, builder, fields }, limits).read(request);
  const end = skipSpace(text, reader.at);
  if (end < text.length) failAt(text, end, 'the end of the body');
  warnings.add(jsonWarnings.repeatedKey, reader.repeatedKeys);
  return builder.finish();
}

interface Parts {
  readonly reader: JsonReader;
  readonly builder: MessageBuilder;
  readonly fields: JsonFields;
}

class Rewriting {
  readonly #reader: JsonReader;
  readonly #builder: MessageBuilder;
  readonly #fields: JsonFields;
  readonly #limits: RewriteLimits;
  #sliceEnd = sliceBytes;
  /** Length of the builder from which on the current resource, scope or record is too large. */
  #maxLength = 0;
  /** Elements that the reader counts in the current message with attributes. */
  #elements = 0;
  /** Those of attributes that the reader leaves out, and does not count. */
  #elementsLeftOut = 0;

  constructor({ reader, builder, fields }: Parts, limits: RewriteLimits) {
    this.#reader = reader;
    this.#builder = builder;
    this.#fields = fields;
    this.#limits = limits;
  }

  /** The members of a message around records. Yields between slices. */
  *read({ keys, fields }: Message): Slices<void> {
    const reader = this.#reader;
    let met = 0;
    for (let key = reader.firstKey(keys); key !== noMoreKeys; key = reader.nextKey(keys)) {
      met = reader.meet(met, key);
      const field = key < 0 ? undefined : fields[key]!;
      if (field === undefined) this.#fields.skipMember(key);
      else if (field.isList && !reader.isNull()) yield* this.#readList(field);
      else if (isAroundRecords(field.type) && reader.isObject()) {
        yield* this.#readAround(field.number, field.type);
      } else this.#readLimited(field);
    }
  }

  /** What is no list of objects would lose records, so that it fails the request. */
  *#readList(field: Field): Slices<void> {
    const reader = this.#reader;
    const { number, type } = field;
    if (!reader.isArray()) failAt(reader.bytes, reader.at, 'an array');
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      if (reader.at >= this.#sliceEnd) {
        this.#sliceEnd = reader.at + sliceBytes;
        yield;
      }
      if (reader.isNull()) reader.skipScalar();
      else if (!reader.isObject()) failAt(reader.bytes, reader.at, 'an object');
      else if (isAroundRecords(type)) yield* this.#readAround(number, type);
      else this.#readLimited(field);
    }
  }

  *#readAround(number: number, message: Message): Slices<void> {
    const start = this.#builder.open(toTag(number, wireType.bytes), message.lengthBytes);
    yield* this.read(message);
    this.#builder.close(start, message.lengthBytes);
  }

  /** A resource, scope, log record or data point. */
  #readLimited(field: Field): void {
    const start = this.#builder.length + openBytes;
    this.#maxLength = start + this.#limits.maxMessageBytes + shrinkBytes;
    this.#readValue(field);
  }

  #isTooLarge(): boolean {
    return this.#builder.length > this.#maxLength;
  }

  /** A message with attributes. Exemplars are in data points. */
  #readOwner(message: Message): void {
    const { attributes } = this.#fields;
    const elements = this.#elements;
    this.#fields.attributes = 0;
    this.#elements = 0;
    this.#elementsLeftOut = 0;
    this.#readMembers(message);
    this.#fields.attributes = attributes;
    this.#elements = elements;
  }

  /** An attribute beyond `maxAttributes`. */
  #readLeftOut(message: Message): void {
    const elements = this.#elements;
    this.#elements = this.#elementsLeftOut;
    this.#readMembers(message);
    this.#elementsLeftOut = this.#elements;
    this.#elements = elements;
  }

  #readMembers({ keys, fields }: Message): void {
    const reader = this.#reader;
    const elementsBefore = this.#elements;
    let met = 0;
    for (let key = reader.firstKey(keys); key !== noMoreKeys; key = reader.nextKey(keys)) {
      met = reader.meet(met, key);
      if (key < 0 || this.#isTooLarge()) this.#fields.skipMember(key);
      else if (fields[key]!.isExclusive) this.#readExclusive(fields[key]!, elementsBefore);
      else this.#readField(fields[key]!);
    }
  }

  /** The reader counts only elements of the last of these fields. */
  #readExclusive(field: Field, elementsBefore: number): void {
    const { length } = this.#builder;
    const elements = this.#elements;
    this.#elements = elementsBefore;
    this.#readValue(field);
    const isWritten = this.#builder.length > length;
    if (!isWritten) this.#elements = elements;
  }

  #readField(field: Field): void {
    const reader = this.#reader;
    if (!field.isList) {
      this.#readValue(field);
    } else if (!reader.isArray()) {
      this.#fields.refuse();
    } else {
      for (let more = reader.firstElement(); more; more = reader.nextElement()) {
        if (this.#isTooLarge()) reader.skip();
        else this.#readValue(field);
      }
    }
  }

  #readValue({ number, type, isList }: Field): void {
    if (typeof type === 'string') return this.#fields.copy(number, type);
    const isObject = this.#reader.isObject();
    // In an array of values others keep their place.
    if (!isObject && !(isList && type === nestedValue)) return this.#fields.refuse();
    if (isList && (type === nestedValue || type === nestedEntry) && !this.#takeElement()) {
      return this.#reader.skip();
    }
    const start = this.#builder.open(toTag(number, wireType.bytes), type.lengthBytes);
    if (!isObject) this.#fields.refuse();
    else if (type === keyValue && this.#fields.isLeftOut()) this.#readLeftOut(type);
    else if (type.hasAttributes) this.#readOwner(type);
    else this.#readMembers(type);
    this.#builder.close(start, type.lengthBytes);
  }

  /** @returns false beyond the element at which the reader stops */
  #takeElement(): boolean {
    this.#elements += 1;
    return this.#elements <= this.#limits.maxElements + 1;
  }
}

function isAroundRecords(type: Field['type']): type is Message {
  return typeof type !== 'string' && type.isAroundRecords;
}

/** Replaces invalid UTF-8, so that one bad byte does not fail the request. */
function* repairText(body: Buffer, warnings: WarningCounts): Slices<Buffer> {
  warnings.add(logWarnings.brokenText);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) yield;
    const part = body.subarray(at, at + sliceBytes);
    parts.push(Buffer.from(decoder.decode(part, { stream: true })));
  }
  parts.push(Buffer.from(decoder.decode()));
  return Buffer.concat(parts);
}

/** @returns the position of the first value, after a byte order mark and spaces */
function findStart(text: Buffer): number {
  const hasMark = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
  return skipSpace(text, hasMark ? 3 : 0);
}
