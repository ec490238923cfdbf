/**
 * Reads the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding) from
 * bytes, without copying any. It knows no message; whoever reads one says where it ends.
 */
import { AppError } from '../../model/errors.ts';

const wireType = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupStart: 3,
  groupEnd: 4,
  fixed32: 5,
} as const;
const maxVarintBytes = 10;
const twoTo32 = 4_294_967_296;

/** All of its methods throw AppError `malformed`, with the offset of the byte at fault. */
export class WireReader {
  readonly bytes: Buffer;
  /** Where the next byte is read. */
  at = 0;
  /** Two words of the last varint, both unsigned. */
  low = 0;
  high = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** @returns the number of the field that begins here * 8 + its wire type */
  tag(end: number): number {
    const start = this.at;
    const byte = this.bytes[start]!;
    if (byte > 7 && byte < 128) {
      this.at = start + 1;
      return byte;
    }
    this.varint(end);
    if (this.high !== 0 || this.low < 8) this.fail(start, 'no field has such a number');
    return this.low;
  }

  /** Reads a length. @returns where what is so long will end */
  lengthEnd(end: number): number {
    const start = this.at;
    let length = start < end ? this.bytes[start]! : 128;
    if (length < 128) {
      this.at = start + 1;
    } else {
      this.varint(end);
      length = this.high === 0 ? this.low : Number.MAX_SAFE_INTEGER;
    }
    if (length > end - this.at) this.fail(start, 'a field reaches beyond its message');
    return this.at + length;
  }

  /** Reads 64 bits into `low` and `high`. */
  varint(end: number): void {
    const { bytes } = this;
    const start = this.at;
    let at = start;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end) this.fail(start, 'a number is cut off');
      const byte = bytes[at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 128) break;
      if (at - start === maxVarintBytes) this.fail(start, 'a number has more than ten bytes');
    }
    this.at = at;
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /** Passes over eight bytes. @returns where they begin */
  fixed64(end: number): number {
    const start = this.at;
    if (end - start < 8) this.fail(start, 'a number is cut off');
    this.at = start + 8;
    return start;
  }

  /** The last varint as a number, rounded where it is beyond 2^53. */
  unsigned(): number {
    return this.high * twoTo32 + this.low;
  }

  /** The last varint as a `sint32` or `sint64`, rounded likewise. */
  zigzag(): number {
    const half = this.high * (twoTo32 / 2) + (this.low >>> 1);
    return (this.low & 1) === 0 ? half : -half - 1;
  }

  /** Passes over the content of a field that is not known. */
  skip(tag: number, end: number): void {
    let open = 0;
    let next = tag;
    for (;;) {
      if ((next & 7) === wireType.groupStart) open += 1;
      else if ((next & 7) === wireType.groupEnd) open -= 1;
      else this.#skipOne(next & 7, end);
      if (open < 0) this.fail(this.at, 'a group ends that has not begun');
      if (open === 0) return;
      if (this.at >= end) this.fail(end, 'a group has no end');
      next = this.tag(end);
    }
  }

  fail(at: number, fault: string): never {
    throw new AppError('malformed', `cannot read the body as protobuf: ${fault} (byte ${at})`);
  }

  #skipOne(type: number, end: number): void {
    const start = this.at;
    switch (type) {
      case wireType.varint:
        this.varint(end);
        return;
      case wireType.fixed64:
        this.at = start + 8;
        break;
      case wireType.bytes:
        this.at = this.lengthEnd(end);
        return;
      case wireType.fixed32:
        this.at = start + 4;
        break;
      default:
        this.fail(start, `there is no wire type ${type}`);
    }
    if (this.at > end) this.fail(start, 'a field reaches beyond its message');
  }
}
