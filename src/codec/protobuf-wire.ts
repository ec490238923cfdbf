/**
 * A cursor over the protobuf wire format (https://protobuf.dev/programming-guides/encoding): reads
 * tags and values and skips unknown fields. It knows no message types.
 */
import { AppError } from '../model/errors.ts';

export const wireType = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  group: 3,
  groupEnd: 4,
  fixed32: 5,
} as const;

/** Nested groups. Groups are deprecated. */
const maxGroupDepth = 64;
const maxGroupBytes = 1024 * 1024;
const maxVarintBytes = 10;
const twoTo32 = 4_294_967_296;

/** Field number and wire type as encoded before a value. */
export function toTag(field: number, type: number): number {
  return ((field << 3) | type) >>> 0;
}

/**
 * Copies and allocates nothing. Each `end` is the end of the message of the field. Throws AppError
 * `malformed` with the position of invalid bytes.
 */
export class ProtobufWire {
  readonly bytes: Buffer;
  /** Position of the cursor. */
  at = 0;
  /** Unsigned halves of the last 64-bit number. */
  high = 0;
  low = 0;
  readonly view: DataView;
  /** Start of the outermost group being skipped. */
  #groupStart = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Reads a tag as of `toTag`. */
  tag(end: number): number {
    const start = this.at;
    const byte = this.bytes[start]!;
    if (byte < 0x80 && byte > 7 && start < end) {
      this.at = start + 1;
      return byte;
    }
    this.varint(end);
    if (this.high !== 0) this.fail(start, 'a field number of more than 29 bits');
    if (this.low < 8) this.fail(start, 'a field of number 0');
    return this.low;
  }

  /** Reads a length. @returns the end of the value, at most `end` */
  lengthEnd(end: number): number {
    const start = this.at;
    const length = this.bytes[start]!;
    if (length < 0x80 && start + 1 + length <= end) {
      this.at = start + 1;
      return start + 1 + length;
    }
    this.varint(end);
    if (this.high !== 0 || this.low > end - this.at) this.#failShort(start);
    // As an int32: `low` may be a double, and double positions slow down later reads.
    return this.at + (this.low | 0);
  }

  /** Sets `high` and `low`. */
  varint(end: number): void {
    const { bytes } = this;
    const start = this.at;
    let at = start;
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end) this.#failShort(start);
      const byte = bytes[at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) break;
      if (at - start === maxVarintBytes) this.fail(start, 'a varint of more than ten bytes');
    }
    this.at = at;
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /** Like `varint`, and faster for six bytes, which Unix ms take from 1971 to 2109. */
  unixMillis(end: number): void {
    const { at } = this;
    if (end - at < 6) return this.varint(end);
    const first = this.view.getInt32(at, true);
    const last = this.view.getUint16(at + 4, true);
    const isSixBytes = (~first & 0x8080_8080) === 0 && (last & 0x8080) === 0x80;
    if (!isSixBytes) return this.varint(end);
    this.at = at + 6;
    const low =
      (first & 0x7f) |
      ((first >>> 1) & 0x3f80) |
      ((first >>> 2) & 0x1f_c000) |
      ((first >>> 3) & 0xfe0_0000) |
      (last << 28);
    this.low = low >>> 0;
    this.high = ((last >>> 4) & 0x7) | ((last >>> 5) & 0x3f8);
  }

  /** @returns the lower 32 bits, unsigned, as proto3 truncates wider values */
  uint32(end: number): number {
    const byte = this.bytes[this.at]!;
    if (byte < 0x80 && this.at < end) {
      this.at += 1;
      return byte;
    }
    this.varint(end);
    return this.low;
  }

  /** @returns an `int64`, exact */
  int64(end: number): bigint {
    this.varint(end);
    return (BigInt(this.high | 0) << 32n) | BigInt(this.low);
  }

  /** @returns a `uint64`, rounded beyond 2^53 */
  uint64(end: number): number {
    this.varint(end);
    return this.high * twoTo32 + this.low;
  }

  /** @returns a `sint32` or `sint64`, rounded beyond 2^53 */
  sint64(end: number): number {
    this.varint(end);
    const half = this.high * (twoTo32 / 2) + (this.low >>> 1);
    return (this.low & 1) === 0 ? half : -half - 1;
  }

  /** Sets `high` and `low`. */
  fixed64(end: number): void {
    const start = this.pass(8, end);
    this.low = this.view.getUint32(start, true);
    this.high = this.view.getUint32(start + 4, true);
  }

  fixed32(end: number): number {
    return this.view.getUint32(this.pass(4, end), true);
  }

  double(end: number): number {
    return this.view.getFloat64(this.pass(8, end), true);
  }

  isAscii(start: number, end: number): boolean {
    let at = start;
    for (; at <= end - 4; at += 4) {
      if ((this.view.getUint32(at) & 0x80808080) !== 0) return false;
    }
    for (; at < end; at += 1) if (this.bytes[at]! >= 0x80) return false;
    return true;
  }

  /** Skips bytes. @returns their start */
  pass(bytes: number, end: number): number {
    const start = this.at;
    if (end - start < bytes) this.#failShort(start);
    this.at = start + bytes;
    return start;
  }

  /** Skips the value of a field, after its tag. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case wireType.varint:
        this.varint(end);
        return;
      case wireType.fixed64:
        this.pass(8, end);
        return;
      case wireType.bytes:
        this.at = this.lengthEnd(end);
        return;
      case wireType.fixed32:
        this.pass(4, end);
        return;
      case wireType.group:
        this.#groupStart = this.at;
        return this.#skipGroup(tag, end, 1);
      case wireType.groupEnd:
        return this.fail(this.at, 'the end of a group that did not begin');
      default:
        return this.fail(this.at, `wire type ${tag & 7}`);
    }
  }

  /** For a known field of a wrong type. @param message with its article: `a sample` */
  failType(at: number, tag: number, message: string): never {
    this.fail(at, `field ${tag >>> 3} of ${message} in wire type ${tag & 7}`);
  }

  fail(at: number, seen: string): never {
    throw new AppError('malformed', `cannot parse protobuf: ${seen} at byte ${at}`);
  }

  /** @param depth of the group at the cursor */
  #skipGroup(tag: number, end: number, depth: number): void {
    for (;;) {
      const at = this.at;
      if (at - this.#groupStart > maxGroupBytes) {
        this.fail(this.#groupStart, `a group of more than ${maxGroupBytes} bytes`);
      }
      const inner = this.tag(end);
      const type = inner & 7;
      if (type === wireType.groupEnd) {
        if (inner >>> 3 !== tag >>> 3) this.fail(at, 'the end of another group than the last');
        return;
      }
      if (type !== wireType.group) {
        this.skip(inner, end);
      } else {
        if (depth >= maxGroupDepth) this.fail(at, `more than ${maxGroupDepth} open groups`);
        this.#skipGroup(inner, end, depth + 1);
      }
    }
  }

  #failShort(at: number): never {
    this.fail(at, 'a value that goes beyond the end of its message');
  }
}
