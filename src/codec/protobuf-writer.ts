/**
 * Writes fields in the protobuf wire format (https://protobuf.dev/programming-guides/encoding).
 * Field numbers must be below 16.
 */
import { wireType } from './protobuf-wire.ts';

// Constants, because property lookups per sample are measurable.
const { varint: varintType, fixed64: fixed64Type, bytes: bytesType } = wireType;
const twoTo32 = 4_294_967_296;
const nothing = Buffer.alloc(0);

/** An int32, int64 or enum from 0 to 2^53. Empty for 0, which proto3 omits. */
export function varintField(field: number, value: number): Buffer {
  if (value === 0) return nothing;
  const low = value >>> 0;
  const high = Math.floor(value / twoTo32);
  const writer = new ProtobufWriter(1 + varintLength(low, high));
  writer.varint(field, low, high);
  return writer.finish();
}

/** A string, bytes or a message. Written even if empty, as an empty message is present. */
export function bytesField(field: number, value: Uint8Array | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const writer = new ProtobufWriter(bytesFieldLength(bytes.length));
  writer.bytes(field, bytes);
  return writer.finish();
}

/** For large messages: one buffer of known size. 64-bit numbers are two halves. */
export class ProtobufWriter {
  readonly #bytes: Buffer;
  #at = 0;

  /** @param size exact size of the message */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Writes tag and length of a bytes field. */
  header(field: number, length: number): void {
    this.#bytes[this.#at++] = (field << 3) | bytesType;
    this.#varint(length, 0);
  }

  text(field: number, text: string): void {
    this.header(field, Buffer.byteLength(text));
    this.#at += this.#bytes.write(text, this.#at, 'utf8');
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.header(field, bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  fixed64(field: number, low: number, high: number): void {
    const bytes = this.#bytes;
    const at = this.#at;
    bytes[at] = (field << 3) | fixed64Type;
    bytes[at + 1] = low;
    bytes[at + 2] = low >>> 8;
    bytes[at + 3] = low >>> 16;
    bytes[at + 4] = low >>> 24;
    bytes[at + 5] = high;
    bytes[at + 6] = high >>> 8;
    bytes[at + 7] = high >>> 16;
    bytes[at + 8] = high >>> 24;
    this.#at = at + 9;
  }

  varint(field: number, low: number, high: number): void {
    this.#bytes[this.#at++] = (field << 3) | varintType;
    this.#varint(low, high);
  }

  /** @throws Error if the size written differs from the size announced */
  finish(): Buffer {
    if (this.#at === this.#bytes.length) return this.#bytes;
    throw new Error(`wrote ${this.#at} bytes of a message of ${this.#bytes.length}`);
  }

  #varint(low: number, high: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let lowRest = low >>> 0;
    let highRest = high >>> 0;
    while (highRest !== 0 || lowRest > 127) {
      bytes[at++] = (lowRest & 127) | 128;
      lowRest = ((lowRest >>> 7) | (highRest << 25)) >>> 0;
      highRest >>>= 7;
    }
    bytes[at++] = lowRest;
    this.#at = at;
  }
}

/** Size of a bytes field with tag and length. */
export function bytesFieldLength(length: number): number {
  return 1 + varintLength(length, 0) + length;
}

/** Size of a varint in two halves, without a tag. */
export function varintLength(low: number, high: number): number {
  if (high !== 0) return Math.ceil((64 - Math.clz32(high)) / 7);
  return low === 0 ? 1 : Math.ceil((32 - Math.clz32(low)) / 7);
}
