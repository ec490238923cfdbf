/** Writes protobuf messages whose length is not known in advance, into one growing buffer. */
import { toTag, wireType } from '../../../codec/protobuf-wire.ts';

const firstBytes = 64 * 1024;
/** Lengths take five bytes, whatever the shortest form is. */
const lengthBytes = 5;
/** A tag and a number. */
const fieldBytes = 16;
const twoTo31 = 2_147_483_648;

export class MessageBuilder {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #at = 0;

  /** Begins a message. @returns the position of its length, for `close` */
  open(tag: number): number {
    this.#reserve(fieldBytes);
    this.#varint(tag, 0);
    const lengthAt = this.#at;
    this.#at += lengthBytes;
    return lengthAt;
  }

  close(lengthAt: number): void {
    const length = this.#at - lengthAt - lengthBytes;
    const bytes = this.#bytes;
    bytes[lengthAt] = (length & 127) | 128;
    bytes[lengthAt + 1] = ((length >>> 7) & 127) | 128;
    bytes[lengthAt + 2] = ((length >>> 14) & 127) | 128;
    bytes[lengthAt + 3] = ((length >>> 21) & 127) | 128;
    bytes[lengthAt + 4] = length >>> 28;
  }

  bytes(field: number, source: Buffer, start: number, end: number): void {
    this.#reserve(fieldBytes + end - start);
    this.#varint(toTag(field, wireType.bytes), 0);
    this.#varint(end - start, 0);
    this.#at += source.copy(this.#bytes, this.#at, start, end);
  }

  varint(field: number, low: number, high: number): void {
    this.#reserve(fieldBytes);
    this.#varint(toTag(field, wireType.varint), 0);
    this.#varint(low, high);
  }

  fixed64(field: number, low: number, high: number): void {
    this.#reserve(fieldBytes);
    this.#varint(toTag(field, wireType.fixed64), 0);
    this.#at = this.#bytes.writeUInt32LE(low >>> 0, this.#at);
    this.#at = this.#bytes.writeUInt32LE(high >>> 0, this.#at);
  }

  double(field: number, value: number): void {
    this.#reserve(fieldBytes);
    this.#varint(toTag(field, wireType.fixed64), 0);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** An element of a packed list of `sint64`. @param value an integer up to 2^53 */
  packedSigned(value: number): void {
    this.#reserve(fieldBytes);
    // A negative number n is 2 * -n - 1.
    const half = value < 0 ? -value - 1 : value;
    const low = (half % twoTo31) * 2 + (value < 0 ? 1 : 0);
    this.#varint(low, Math.floor(half / twoTo31));
  }

  /** @returns a view of the message, valid until the next write after `clear` */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  clear(): void {
    this.#at = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }

  #varint(low: number, high: number): void {
    let lowRest = low >>> 0;
    let highRest = high >>> 0;
    while (highRest !== 0 || lowRest > 127) {
      this.#bytes[this.#at++] = (lowRest & 127) | 128;
      lowRest = ((lowRest >>> 7) | (highRest << 25)) >>> 0;
      highRest >>>= 7;
    }
    this.#bytes[this.#at++] = lowRest;
  }
}
