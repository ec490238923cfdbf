/** Writes ClickHouse RowBinary values into one growing buffer. */
import type { EventTime } from './event-time.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';

const twoTo32 = 4_294_967_296;
/** For fewer bytes a loop is faster than `copy`. */
const shortCopyBytes = 24;

const initialBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024 * 1024;

/** Reused from batch to batch. */
export class RowWriter {
  #buffer = Buffer.allocUnsafeSlow(initialBytes);
  #length = 0;

  /** Bytes written since the last `finish` or `clear`. */
  get length(): number {
    return this.#length;
  }

  /** Makes room. Callers reserve before each write. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    freeMemory([ownMemory(this.#buffer)]);
    this.#buffer = grown;
  }

  byte(value: number): void {
    this.#buffer[this.#length++] = value;
  }

  /** Unsigned LEB128, up to 2^32 - 1. */
  varint(value: number): void {
    while (value > 127) {
      this.#buffer[this.#length++] = (value & 127) | 128;
      value >>>= 7;
    }
    this.#buffer[this.#length++] = value;
  }

  /** Little-endian. */
  uint32(value: number): void {
    this.#buffer[this.#length++] = value;
    this.#buffer[this.#length++] = value >>> 8;
    this.#buffer[this.#length++] = value >>> 16;
    this.#buffer[this.#length++] = value >>> 24;
  }

  /** An Int64 of Unix ns; undefined is written as -1. */
  time(time: EventTime | undefined): void {
    if (time === undefined) {
      this.uint32(0xffff_ffff);
      this.uint32(0xffff_ffff);
      return;
    }
    const low = (time.millis % twoTo32) * 1_000_000 + time.nanos;
    const high = Math.floor(time.millis / twoTo32) * 1_000_000 + Math.floor(low / twoTo32);
    this.uint32(low >>> 0);
    this.uint32(high);
  }

  /** A String from a range of another buffer. */
  bytes(source: Buffer, start: number, end: number): void {
    this.varint(end - start);
    this.raw(source, start, end);
  }

  /** Bytes without a length prefix. */
  raw(source: Buffer, start: number, end: number): void {
    const buffer = this.#buffer;
    let at = this.#length;
    this.#length += end - start;
    if (end - start < shortCopyBytes) {
      for (let i = start; i < end; i += 1) buffer[at++] = source[i]!;
    } else {
      source.copy(buffer, at, start, end);
    }
  }

  /** A String; lone surrogates become U+FFFD. Needs three bytes per character plus five. */
  text(value: string): void {
    if (value === '') {
      this.byte(0);
      return;
    }
    const bytes = Buffer.byteLength(value);
    this.varint(bytes);
    this.#length += this.#buffer.write(value, this.#length, bytes, 'utf8');
  }

  /**
   * Returns a copy of the rows and clears the writer.
   * @throws RangeError if more was written than reserved, since writes beyond the buffer are lost
   */
  finish(): Buffer {
    // A length that is not a number is not within it either: it would be a batch without its rows.
    const isWithin = this.#length <= this.#buffer.length;
    if (!isWithin) {
      throw new RangeError(`cannot finish rows: ${this.#length} bytes, too few were reserved`);
    }
    const rows = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.clear();
    return rows;
  }

  /** Drops what was written since the writer had this length. */
  rewind(length: number): void {
    this.#length = length;
  }

  /** Clears the writer and releases a large buffer. */
  clear(): void {
    this.#length = 0;
    if (this.#buffer.length <= maxKeptBytes) return;
    freeMemory([ownMemory(this.#buffer)]);
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
  }
}
