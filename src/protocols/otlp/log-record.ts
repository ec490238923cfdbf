/**
 * What the readers of OTLP logs (JSON, protobuf) hand over: a resource, a scope and a log record,
 * as ranges of bytes. Each is filled anew by its reader and knows neither encoding nor row.
 */
import { AttributeSet } from './attribute-set.ts';
import { ValueText } from './value-text.ts';

const nothing: Buffer = Buffer.alloc(0);

/** A text: valid UTF-8 in a buffer that nobody changes until what it is of is done. */
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
}

/** An unsigned number of 64 bits, Unix ns as a sender should write them. 0 is absent. */
export class TimeSlot {
  /** Upper half, unsigned. */
  high = 0;
  /** Lower half, unsigned. */
  low = 0;
  /** What was sent in its place, where that is no such number. Empty = it is one. */
  readonly unreadable = new TextSlot();

  set(high: number, low: number): void {
    this.high = high;
    this.low = low;
    this.unreadable.clear();
  }

  clear(): void {
    this.set(0, 0);
  }
}

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

  /** Takes `bytes` bytes. Zeros alone stand for no id, as OTLP says. */
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

  /** Takes `2 * bytes` hex digits in any case. @returns false, and no id, where one is no digit. */
  setHex(source: Buffer, start: number): boolean {
    let anyBit = 0;
    this.isPresent = false;
    for (let i = 0; i < this.hex.length; i += 1) {
      const byte = source[start + i]!;
      // Digits have this bit already, so it lowers the letters alone.
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

/** What resources, scopes and records have in common. */
export interface Attributed {
  readonly attributes: AttributeSet;
  /** For texts that do not stand in the body as they are wanted; cleared with their owner. */
  readonly texts: ValueText;
  /** Unsigned, 32 bits; 0 = none. */
  droppedAttributes: number;
}

/** `opentelemetry.proto.resource.v1.Resource` and the `schema_url` beside it. */
export class LogResource implements Attributed {
  readonly attributes = new AttributeSet();
  readonly texts = new ValueText();
  readonly schemaUrl = new TextSlot();
  droppedAttributes = 0;

  clear(): void {
    this.attributes.clear();
    this.texts.clear();
    this.schemaUrl.clear();
    this.droppedAttributes = 0;
  }
}

/** `opentelemetry.proto.common.v1.InstrumentationScope` and the `schema_url` beside it. */
export class LogScope implements Attributed {
  readonly attributes = new AttributeSet();
  readonly texts = new ValueText();
  readonly name = new TextSlot();
  readonly version = new TextSlot();
  readonly schemaUrl = new TextSlot();
  droppedAttributes = 0;

  clear(): void {
    this.attributes.clear();
    this.texts.clear();
    this.name.clear();
    this.version.clear();
    this.schemaUrl.clear();
    this.droppedAttributes = 0;
  }
}

/** `opentelemetry.proto.logs.v1.LogRecord`. */
export class LogRecord implements Attributed {
  readonly time = new TimeSlot();
  readonly observedTime = new TimeSlot();
  /** As sent, 32 bits signed; 0 = none. */
  severityNumber = 0;
  /** As sent, in any case. */
  readonly severityText = new TextSlot();
  /** The text of its value, as `ValueText` has it. */
  readonly body = new TextSlot();
  readonly attributes = new AttributeSet();
  readonly texts = new ValueText();
  droppedAttributes = 0;
  /** As sent; the lowest 8 bits count. */
  flags = 0;
  readonly traceId = new IdSlot(16);
  readonly spanId = new IdSlot(8);
  readonly eventName = new TextSlot();

  clear(): void {
    this.time.clear();
    this.observedTime.clear();
    this.severityNumber = 0;
    this.severityText.clear();
    this.body.clear();
    this.attributes.clear();
    this.texts.clear();
    this.droppedAttributes = 0;
    this.flags = 0;
    this.traceId.clear();
    this.spanId.clear();
    this.eventName.clear();
  }
}
