/** Reads RowBinary values in order (https://clickhouse.com/docs/interfaces/formats/RowBinary). */
import type { Label } from '../model/metric-plan.ts';

export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Offset of the next value. */
  get position(): number {
    return this.#at;
  }

  set position(at: number) {
    this.#at = at;
  }

  /** Memory that all values share. */
  get byteLength(): number {
    return this.#bytes.length;
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  uint8(): number {
    const value = this.#bytes.readUInt8(this.#at);
    this.#at += 1;
    return value;
  }

  uint16(): number {
    const value = this.#bytes.readUInt16LE(this.#at);
    this.#at += 2;
    return value;
  }

  int64(): bigint {
    const value = this.#bytes.readBigInt64LE(this.#at);
    this.#at += 8;
    return value;
  }

  uint64(): bigint {
    const value = this.#bytes.readBigUInt64LE(this.#at);
    this.#at += 8;
    return value;
  }

  uint128(): bigint {
    const low = this.#bytes.readBigUInt64LE(this.#at);
    const high = this.#bytes.readBigUInt64LE(this.#at + 8);
    this.#at += 16;
    return (high << 64n) | low;
  }

  /** A UInt128 as four words, lowest first. */
  words128(): Uint32Array {
    return new Uint32Array(this.copy(16));
  }

  /** A String, as a view. */
  string(): Uint8Array {
    return this.#take(this.varint());
  }

  /** A String, decoded. */
  text(): string {
    const length = this.varint();
    if (length === 0) return '';
    const start = this.#at;
    this.#advance(length);
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** Passes over a String. */
  skipString(): void {
    this.#advance(this.varint());
  }

  /** Passes over a Map(String, String). */
  skipLabels(): void {
    for (let strings = 2 * this.varint(); strings > 0; strings -= 1) this.skipString();
  }

  /** A Map(String, String). */
  labels(): Label[] {
    return Array.from({ length: this.varint() }, () => [this.text(), this.text()] as const);
  }

  /** An array of 64-bit words, copied because typed arrays need alignment. */
  wordArray(): ArrayBuffer {
    return this.copy(this.varint() * 8);
  }

  copy(length: number): ArrayBuffer {
    const bytes = this.#take(length);
    const copy = new ArrayBuffer(bytes.length);
    new Uint8Array(copy).set(bytes);
    return copy;
  }

  varint(): number {
    const first = this.#bytes[this.#at] ?? 0;
    if (first < 128) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }

  #take(length: number): Buffer {
    const start = this.#at;
    this.#advance(length);
    return this.#bytes.subarray(start, this.#at);
  }

  #advance(length: number): void {
    this.#at += length;
    const missing = this.#at - this.#bytes.length;
    if (missing > 0) throw new RangeError(`cannot read rows: they end ${missing} bytes short`);
  }
}
