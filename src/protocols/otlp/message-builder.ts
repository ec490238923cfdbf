/** Writes protobuf messages whose length is not known in advance, into one growing buffer. */
import { hexDigit } from '../../codec/json-scanner.ts';
import { toTag, wireType } from '../../codec/protobuf-wire.ts';

/** A tag and a number. */
const fieldBytes = 16;
/** For fewer bytes a loop is faster than `copy`. */
const shortCopyBytes = 24;
const twoTo31 = 2_147_483_648;

/** One byte is enough for 127; longer messages are moved by four when they are closed. */
export type LengthBytes = 1 | 5;

export class MessageBuilder {
  #bytes: Buffer;
  #at = 0;

  /** @param size expected, in bytes */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  get length(): number {
    return this.#at;
  }

  /** Begins a message. @returns the position of its content, for `close` */
  open(tag: number, lengthBytes: LengthBytes): number {
    this.#reserve(fieldBytes);
    this.#varint(tag, 0);
    this.#at += lengthBytes;
    return this.#at;
  }

  /** An empty message takes two bytes: in JSON it may have been one digit and a comma. */
  close(start: number, lengthBytes: LengthBytes): void {
    const length = this.#at - start;
    if (length === 0) {
      this.#at = start - lengthBytes;
      this.#bytes[this.#at++] = 0;
      return;
    }
    if (lengthBytes === 5) return this.#writeLength(start, length);
    if (length < 128) {
      this.#bytes[start - 1] = length;
      return;
    }
    this.#reserve(4);
    this.#bytes.copyWithin(start + 4, start, this.#at);
    this.#at += 4;
    this.#writeLength(start + 4, length);
  }

  bytes(field: number, source: Buffer, start: number, end: number): void {
    this.#reserve(fieldBytes + end - start);
    this.#varint(toTag(field, wireType.bytes), 0);
    this.#varint(end - start, 0);
    if (end - start < shortCopyBytes) {
      for (let i = start; i < end; i += 1) this.#bytes[this.#at++] = source[i]!;
    } else {
      this.#at += source.copy(this.#bytes, this.#at, start, end);
    }
  }

  /** Bytes from hex digits. @returns false if one is not a digit; then nothing is written */
  hex(field: number, source: Buffer, start: number, size: number): boolean {
    this.#reserve(fieldBytes + size);
    const before = this.#at;
    this.#varint(toTag(field, wireType.bytes), 0);
    this.#varint(size, 0);
    for (let i = start; i < start + 2 * size; i += 2) {
      const byte = (hexDigit(source[i]!) << 4) | hexDigit(source[i + 1]!);
      if (byte < 0) {
        this.#at = before;
        return false;
      }
      this.#bytes[this.#at++] = byte;
    }
    return true;
  }

  varint(field: number, low: number, high: number): void {
    this.#reserve(fieldBytes);
    this.#varint(toTag(field, wireType.varint), 0);
    this.#varint(low, high);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(fieldBytes);
    this.#varint(toTag(field, wireType.fixed32), 0);
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
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

  /** In five bytes, whatever the shortest form is. */
  #writeLength(end: number, length: number): void {
    const bytes = this.#bytes;
    bytes[end - 5] = (length & 127) | 128;
    bytes[end - 4] = ((length >>> 7) & 127) | 128;
    bytes[end - 3] = ((length >>> 14) & 127) | 128;
    bytes[end - 2] = ((length >>> 21) & 127) | 128;
    bytes[end - 1] = length >>> 28;
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
