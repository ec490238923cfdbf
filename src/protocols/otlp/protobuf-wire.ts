/**
 * A cursor over protobuf's wire format (https://protobuf.dev/programming-guides/encoding): tags,
 * varints, fixed numbers, lengths, and the skipping of what its user does not know. It knows no
 * message.
 */
import { AppError } from '../../model/errors.ts';

export const wireType = { varint: 0, fixed64: 1, bytes: 2, group: 3, groupEnd: 4, fixed32: 5 };

/** Groups within groups; nobody has sent even one in earnest for long. */
const maxGroupDepth = 64;
const maxGroupBytes = 1024 * 1024;

/** A field's number and wire type, as they stand before its value. */
export function toTag(field: number, type: number): number {
  return ((field << 3) | type) >>> 0;
}

export class ProtobufWire {
  readonly bytes: Buffer;
  /** Where the cursor stands. */
  at = 0;
  /** The last number of 64 bits: its upper half, and its lower one; unsigned both. */
  high = 0;
  low = 0;
  readonly #view: DataView;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /**
   * @param end of the message the field stands in, as in all that follows.
   * @throws AppError `malformed` where there is no valid tag, as in all that follows
   */
  tag(end: number): number {
    const at = this.at;
    const first = this.bytes[at]!;
    if (first < 0x80 && first > 7 && at < end) {
      this.at = at + 1;
      return first;
    }
    this.varint(end);
    if (this.high !== 0) this.fail(at, 'a field number of more than 29 bits');
    if (this.low < 8) this.fail(at, 'a field of number 0');
    return this.low;
  }

  /** Leaves its value in `high` and `low`. */
  varint(end: number): void {
    const start = this.at;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) this.#failShort(start);
      const byte = this.bytes[this.at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    this.fail(start, 'a varint of more than ten bytes');
  }

  /** @returns the lower 32 bits, unsigned, as proto3 reads what is wider than its field. */
  uint32(end: number): number {
    const byte = this.bytes[this.at]!;
    if (byte < 0x80 && this.at < end) {
      this.at += 1;
      return byte;
    }
    this.varint(end);
    return this.low;
  }

  /** @returns the position after the value, which the cursor is at the start of. */
  length(end: number): number {
    const start = this.at;
    const length = this.bytes[start]!;
    if (length < 0x80 && start + 1 + length <= end) {
      this.at = start + 1;
      return start + 1 + length;
    }
    this.varint(end);
    if (this.high !== 0 || this.low > end - this.at) this.#failShort(start);
    return this.at + this.low;
  }

  /** Leaves its value in `high` and `low`. */
  fixed64(end: number): void {
    if (end - this.at < 8) this.#failShort(this.at);
    this.low = this.#view.getUint32(this.at, true);
    this.high = this.#view.getUint32(this.at + 4, true);
    this.at += 8;
  }

  fixed32(end: number): number {
    if (end - this.at < 4) this.#failShort(this.at);
    this.at += 4;
    return this.#view.getUint32(this.at - 4, true);
  }

  double(end: number): number {
    if (end - this.at < 8) this.#failShort(this.at);
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }

  /** True where all bytes are ASCII. */
  isAscii(start: number, end: number): boolean {
    let at = start;
    for (; at <= end - 4; at += 4) {
      if ((this.#view.getUint32(at) & 0x80808080) !== 0) return false;
    }
    for (; at < end; at += 1) if (this.bytes[at]! >= 0x80) return false;
    return true;
  }

  /** Passes over the value of the field whose tag was read last. */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case wireType.varint:
        this.varint(end);
        return;
      case wireType.fixed64:
        this.fixed64(end);
        return;
      case wireType.bytes:
        this.at = this.length(end);
        return;
      case wireType.fixed32:
        this.fixed32(end);
        return;
      case wireType.group:
        this.#skipGroup(tag, end);
        return;
      case wireType.groupEnd:
        return this.fail(this.at, 'the end of a group that did not begin');
      default:
        return this.fail(this.at, `wire type ${tag & 7}`);
    }
  }

  /** @throws AppError `malformed`, always */
  fail(at: number, seen: string): never {
    throw new AppError('malformed', `cannot parse protobuf: ${seen} at byte ${at}`);
  }

  #skipGroup(tag: number, end: number): void {
    const start = this.at;
    const open = [tag >>> 3];
    while (open.length > 0) {
      const at = this.at;
      if (at - start > maxGroupBytes) {
        this.fail(start, `a group of more than ${maxGroupBytes} bytes`);
      }
      const inner = this.tag(end);
      const type = inner & 7;
      if (type === wireType.group) {
        if (open.length >= maxGroupDepth) this.fail(at, `more than ${maxGroupDepth} open groups`);
        open.push(inner >>> 3);
      } else if (type === wireType.groupEnd) {
        if (open.pop() !== inner >>> 3) this.fail(at, 'the end of another group than the last');
      } else {
        this.skip(inner, end);
      }
    }
  }

  #failShort(at: number): never {
    this.fail(at, 'a value that goes beyond the end of its message');
  }
}
