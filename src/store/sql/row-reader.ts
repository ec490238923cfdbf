/**
 * Reads values of ClickHouse's RowBinary form, one after the other
 * (https://clickhouse.com/docs/interfaces/formats/RowBinary). It knows primitive values, not what
 * they mean; the bytes are the store's own.
 */

export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  int64(): bigint {
    const value = this.#bytes.readBigInt64LE(this.#at);
    this.#at += 8;
    return value;
  }

  uint128(): bigint {
    const low = this.#bytes.readBigUInt64LE(this.#at);
    const high = this.#bytes.readBigUInt64LE(this.#at + 8);
    this.#at += 16;
    return (high << 64n) | low;
  }

  /** The bytes of a String, as a view. */
  string(): Uint8Array {
    return this.#take(this.#varint());
  }

  /** A copy of the elements of an array of 64-bit words, so that they lie as typed arrays need. */
  wordArray(): ArrayBuffer {
    const bytes = this.#take(this.#varint() * 8);
    const copy = new ArrayBuffer(bytes.length);
    new Uint8Array(copy).set(bytes);
    return copy;
  }

  #take(length: number): Uint8Array {
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) {
      throw new RangeError(
        `cannot read rows: they end ${this.#at - this.#bytes.length} bytes short`,
      );
    }
    return this.#bytes.subarray(start, this.#at);
  }

  #varint(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }
}
