/**
 * Rewrites an `ExportMetricsServiceRequest` from JSON to protobuf, so that both encodings have one
 * reader. Lists and messages under a key that is repeated in one object are joined, as in protobuf.
 */
import { failAt, skipSpace } from '../../../codec/json-scanner.ts';
import type { DecodeLimits } from '../../../model/protocol.ts';
import { toTag, wireType } from '../../../codec/protobuf-wire.ts';
import {
  createObjectKeys,
  JsonReader,
  misspeltKey,
  noMoreKeys,
  unknownKey,
} from '../json-reader.ts';
import { jsonWarnings, JsonScalars } from '../json-scalars.ts';
import { findStart } from '../json-text.ts';
import { IdSlot, TextSlot, TimeSlot, type WarningCounts } from '../log-record.ts';
import { exportRequest, type Field, type Message, type ScalarType } from './messages.ts';
import { MessageBuilder } from './message-builder.ts';

/** Bytes read without yielding. */
const sliceBytes = 256 * 1024;
/** Levels of JSON around an attribute's value, and per nested value. */
const levelsAboveValues = 16;
const levelsPerValue = 4;
/** Skipping is recursive; the stack has room for twice as many levels. */
const maxLevels = 1500;
/** Levels down to a data point, between which the check of the text may yield. */
const yieldingLevels = 10;

const anyKeys = createObjectKeys([]);
const temporalities: ReadonlyMap<string, number> = new Map([
  ['AGGREGATION_TEMPORALITY_UNSPECIFIED', 0],
  ['AGGREGATION_TEMPORALITY_DELTA', 1],
  ['AGGREGATION_TEMPORALITY_CUMULATIVE', 2],
]);

const otherSignal = 'logs, traces or profiles, left out: this address takes metrics';

/** A message being read. */
interface Frame {
  readonly message: Message;
  /** Of its length in the builder; -1 for the request. */
  readonly lengthAt: number;
  /** Keys met so far, as bits. */
  met: number;
  isNew: boolean;
  /** The list being read, if any, and whether its first element is ahead. */
  list: Field | undefined;
  isListNew: boolean;
}

/** @param text valid UTF-8. @throws AppError `malformed` */
export function* toProtobuf(
  text: Buffer,
  warnings: WarningCounts,
  { maxDepth }: Pick<DecodeLimits, 'maxDepth'>,
): Generator<undefined, Buffer> {
  const start = findStart(text);
  const reader = new JsonReader(text, start);
  const levels = Math.min(levelsAboveValues + maxDepth * levelsPerValue, maxLevels);
  if (!reader.isObject()) failAt(text, start, 'an object');
  yield* checkText(reader, { levels, sliceEnd: start + sliceBytes }, yieldingLevels);
  const end = skipSpace(text, reader.at);
  if (end < text.length) failAt(text, end, 'the end of the body');
  reader.at = start;
  const rewriting = new Rewriting(reader, warnings);
  while (!rewriting.run()) yield;
  return rewriting.finish();
}

/** Checks the whole text, so that the second pass reads valid JSON of bounded depth. */
function* checkText(
  reader: JsonReader,
  progress: { readonly levels: number; sliceEnd: number },
  depth: number,
): Generator<undefined, void> {
  if (reader.at >= progress.sliceEnd) {
    progress.sliceEnd = reader.at + sliceBytes;
    yield;
  }
  if (depth > 0 && reader.isArray()) {
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      yield* checkText(reader, progress, depth - 1);
    }
  } else if (depth > 0 && reader.isObject()) {
    let key = reader.firstKey(anyKeys);
    for (; key !== noMoreKeys; key = reader.nextKey(anyKeys)) {
      yield* checkText(reader, progress, depth - 1);
    }
  } else {
    reader.skip(progress.levels);
  }
}

class Rewriting {
  readonly #reader: JsonReader;
  readonly #warnings: WarningCounts;
  readonly #scalars: JsonScalars;
  readonly #builder = new MessageBuilder();
  readonly #frames: Frame[] = [];
  readonly #text = new TextSlot();
  readonly #integer = new TimeSlot();
  readonly #ids = { traceId: new IdSlot(16), spanId: new IdSlot(8) };

  constructor(reader: JsonReader, warnings: WarningCounts) {
    this.#reader = reader;
    this.#warnings = warnings;
    this.#scalars = new JsonScalars(reader, warnings);
    this.#open(exportRequest, -1);
  }

  run(): boolean {
    const sliceEnd = this.#reader.at + sliceBytes;
    while (this.#frames.length > 0) {
      if (this.#reader.at >= sliceEnd) return false;
      this.#step(this.#frames.at(-1)!);
    }
    return true;
  }

  finish(): Buffer {
    this.#warnings.add(jsonWarnings.repeatedKey, this.#reader.repeatedKeys);
    return this.#builder.finish();
  }

  #open(message: Message, lengthAt: number): void {
    const list = undefined;
    this.#frames.push({ message, lengthAt, met: 0, isNew: true, list, isListNew: false });
  }

  /** Reads one element or member, or leaves the message. */
  #step(frame: Frame): void {
    const reader = this.#reader;
    if (frame.list !== undefined) {
      const more = frame.isListNew ? reader.firstElement() : reader.nextElement();
      frame.isListNew = false;
      if (more) this.#readValue(frame.list);
      else frame.list = undefined;
      return;
    }
    const { keys, fields } = frame.message;
    const key = frame.isNew ? reader.firstKey(keys) : reader.nextKey(keys);
    frame.isNew = false;
    if (key === noMoreKeys) {
      this.#frames.pop();
      if (frame.lengthAt >= 0) this.#builder.close(frame.lengthAt);
    } else if (key === unknownKey || key === misspeltKey) {
      this.#scalars.skipMember(key);
    } else {
      frame.met = reader.meet(frame.met, key);
      this.#readField(frame, fields[key]!);
    }
  }

  #readField(frame: Frame, field: Field): void {
    const reader = this.#reader;
    if (field.type === 'otherSignal') {
      this.#warnings.add(otherSignal);
      this.#scalars.skipMember(unknownKey);
    } else if (!field.isList) {
      this.#readValue(field);
    } else if (reader.isArray()) {
      frame.list = field;
      frame.isListNew = true;
    } else {
      this.#scalars.refuse();
    }
  }

  #readValue({ number, type }: Field): void {
    if (typeof type === 'string') return this.#readScalar(number, type as ScalarType);
    // Null is an empty element in a list of messages, and an absent member.
    if (!this.#reader.isObject()) {
      this.#scalars.refuse();
      return;
    }
    this.#open(type, this.#builder.open(toTag(number, wireType.bytes)));
  }

  #readScalar(number: number, type: ScalarType): void {
    const builder = this.#builder;
    const scalars = this.#scalars;
    const text = this.#text;
    switch (type) {
      case 'text':
        if (scalars.readText(text)) builder.bytes(number, text.source, text.start, text.end);
        return;
      case 'bytes':
        if (scalars.readBytes(text)) {
          const bytes = Buffer.from(text.source.toString('latin1', text.start, text.end), 'base64');
          builder.bytes(number, bytes, 0, bytes.length);
        }
        return;
      case 'traceId':
      case 'spanId':
        return this.#readId(number, this.#ids[type]);
      case 'bool':
        if (scalars.readBool(text)) builder.varint(number, text.length === 4 ? 1 : 0, 0);
        return;
      case 'double':
        if (scalars.readDouble(text)) {
          builder.double(number, Number(text.source.toString('latin1', text.start, text.end)));
        }
        return;
      default:
        return this.#readInteger(number, type);
    }
  }

  #readInteger(number: number, type: ScalarType): void {
    const builder = this.#builder;
    const integer = this.#integer;
    switch (type) {
      case 'enum':
        return builder.varint(number, this.#scalars.readEnum(temporalities), 0);
      case 'uint32':
        return builder.varint(number, this.#scalars.readUint32(), 0);
      case 'sint32': {
        const value = this.#scalars.readEnum(noNames);
        return builder.varint(number, (value << 1) ^ (value >> 31), 0);
      }
      default:
    }
    const isSigned = type === 'int64' || type === 'sfixed64';
    if (!this.#scalars.readInt64(integer, isSigned)) return;
    if (type === 'fixed64' || type === 'sfixed64') {
      builder.fixed64(number, integer.low, integer.high);
    } else {
      builder.varint(number, integer.low, integer.high);
    }
  }

  #readId(number: number, id: IdSlot): void {
    this.#scalars.readId(id);
    if (!id.isPresent) return;
    const bytes = Buffer.from(id.hex.toString('latin1'), 'hex');
    this.#builder.bytes(number, bytes, 0, bytes.length);
  }
}

const noNames: ReadonlyMap<string, number> = new Map();
