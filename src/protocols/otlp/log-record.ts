/**
 * A resource, a scope and a log record as ranges of bytes, filled by the JSON and the protobuf
 * reader and reused, and the warnings about them.
 */
import { addCount } from '../../codec/rejections.ts';
import { AttributeSet } from './attribute-set.ts';
import { ValueText } from './value-text.ts';

const nothing: Buffer = Buffer.alloc(0);

/** A text: valid UTF-8 in a buffer that must not change until its owner is cleared. */
export class TextSlot {
  source = nothing;
  start = 0;
  end = 0;

  set(source: Buffer, start: number, end: number): void {
    this.source = source;
    this.start = start;
    this.end = end;
  }

  take(other: TextSlot): void {
    this.source = other.source;
    this.start = other.start;
    this.end = other.end;
  }

  clear(): void {
    this.source = nothing;
    this.start = 0;
    this.end = 0;
  }

  get length(): number {
    return this.end - this.start;
  }

  /** As a string, if it is ASCII. */
  latin1(): string {
    return this.source.toString('latin1', this.start, this.end);
  }
}

/** A uint64 of Unix ns; 0 = absent. */
export class TimeSlot {
  /** Upper half, unsigned. */
  high = 0;
  /** Lower half, unsigned. */
  low = 0;

  set(high: number, low: number): void {
    this.high = high;
    this.low = low;
  }

  clear(): void {
    this.set(0, 0);
  }
}

/** Attributes with times as sent, if they cannot be the time of the row. */
export const timeKeys = {
  time: Buffer.from('otel.time_unix_nano'),
  observedTime: Buffer.from('otel.observed_time_unix_nano'),
} as const;

/** A trace or span id as lower-case hex digits. */
export class IdSlot {
  readonly hex: Buffer;
  isPresent = false;

  /** @param bytes 16 of a trace id, 8 of a span id. */
  constructor(bytes: number) {
    this.hex = Buffer.alloc(2 * bytes);
  }

  get bytes(): number {
    return this.hex.length / 2;
  }

  clear(): void {
    this.isPresent = false;
  }

  /** Sets the id from `bytes` bytes. All zeros mean no id, as OTLP defines. */
  setBytes(source: Buffer, start: number): void {
    let anyBit = 0;
    for (let i = 0; i < this.bytes; i += 1) {
      const byte = source[start + i]!;
      anyBit |= byte;
      this.hex[2 * i] = toDigit(byte >> 4);
      this.hex[2 * i + 1] = toDigit(byte & 15);
    }
    this.isPresent = anyBit !== 0;
  }

  /** Sets the id from `2 * bytes` hex digits in any case. @returns false if one is not a digit */
  setHex(source: Buffer, start: number): boolean {
    let anyBit = 0;
    this.isPresent = false;
    for (let i = 0; i < this.hex.length; i += 1) {
      const byte = source[start + i]!;
      // Digits have bit 0x20 already, so that only letters change.
      const lower = byte | 0x20;
      if (!((byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return false;
      anyBit |= lower ^ 0x30;
      this.hex[i] = lower;
    }
    this.isPresent = anyBit !== 0;
    return true;
  }
}

function toDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

/** Common to resources, scopes and records. */
export class Attributed {
  readonly attributes = new AttributeSet();
  /** Texts that cannot be ranges of the body; cleared with their owner. */
  readonly texts = new ValueText();
  /** Unsigned, 32 bits; 0 = none. */
  droppedAttributes = 0;

  clear(): void {
    this.attributes.clear();
    this.texts.clear();
    this.droppedAttributes = 0;
  }
}

/** `opentelemetry.proto.resource.v1.Resource` and its `schema_url`. */
export class LogResource extends Attributed {
  readonly schemaUrl = new TextSlot();

  override clear(): void {
    super.clear();
    this.schemaUrl.clear();
  }
}

/** `opentelemetry.proto.common.v1.InstrumentationScope` and its `schema_url`. */
export class LogScope extends Attributed {
  readonly name = new TextSlot();
  readonly version = new TextSlot();
  readonly schemaUrl = new TextSlot();

  override clear(): void {
    super.clear();
    this.name.clear();
    this.version.clear();
    this.schemaUrl.clear();
  }
}

/** `opentelemetry.proto.logs.v1.LogRecord`. */
export class LogRecord extends Attributed {
  readonly time = new TimeSlot();
  readonly observedTime = new TimeSlot();
  /** As sent, 32 bits signed; 0 = none. */
  severityNumber = 0;
  /** As sent, in any case. */
  readonly severityText = new TextSlot();
  /** The value as text in the form of `ValueText`. */
  readonly body = new TextSlot();
  /** As sent; only the lowest 8 bits are stored. */
  flags = 0;
  readonly traceId = new IdSlot(16);
  readonly spanId = new IdSlot(8);
  readonly eventName = new TextSlot();

  override clear(): void {
    super.clear();
    this.time.clear();
    this.observedTime.clear();
    this.severityNumber = 0;
    this.severityText.clear();
    this.body.clear();
    this.flags = 0;
    this.traceId.clear();
    this.spanId.clear();
    this.eventName.clear();
  }
}

/**
 * Warnings about records that were accepted with changes. They are counted, and answered as the
 * message of a full success.
 */
export const logWarnings = {
  timeUnit: 'time not in nanoseconds, read in the unit that fits its magnitude',
  timeRange: 'time outside 1970 to 2148, replaced by the time of receipt',
  timeForm: 'time that is no unsigned 64-bit integer, kept as an attribute',
  severityNumber: 'severity number outside 0 to 24, clamped',
  badId: 'trace or span id of a wrong form, left out',
  idNotation: 'trace or span id in another notation, decoded',
  repeatedKey: 'attribute key repeated, its last value kept',
  tooManyAttributes: 'more than 1000 attributes, the rest left out',
  brokenText: 'text that is not valid UTF-8, repaired',
  wrongType: 'value of another type than its field, left out',
  stringTable: 'reference to a string table, left out',
} as const;

/** Counts of warnings; reused from request to request. */
export class WarningCounts {
  #counts = new Map<string, number>();

  /** @param word a fixed word; never contains data of the sender */
  add(word: string, times = 1): void {
    if (times > 0) addCount(this.#counts, word, times);
  }

  /** @returns the counts since the last call */
  take(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}
