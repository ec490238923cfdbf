/**
 * Writes RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary), for round-trip
 * comparison: a difference means invalid text or a non-canonical encoding.
 */
export class RowWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param bytes expected; more make it grow */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes);
  }

  /** A view of what is written. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  text(text: string | Buffer): this {
    const length = Buffer.byteLength(text);
    this.count(length);
    const at = this.#take(length);
    if (typeof text === 'string') this.#bytes.write(text, at);
    else text.copy(this.#bytes, at);
    return this;
  }

  map(entries: Iterable<readonly [string, string]> & ({ length: number } | { size: number })) {
    this.count('length' in entries ? entries.length : entries.size);
    for (const [key, value] of entries) this.text(key).text(value);
    return this;
  }

  /** Base 128, the lowest digits first. */
  count(count: number): this {
    let rest = count;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    return this.byte(rest);
  }

  byte(value: number): this {
    const at = this.#take(1);
    this.#bytes[at] = value;
    return this;
  }

  int64(value: bigint): this {
    const at = this.#take(8);
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at);
    return this;
  }

  uint128(value: bigint): this {
    return this.int64(value).int64(value >> 64n);
  }

  #take(length: number): number {
    const at = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(2 * this.#length);
      this.#bytes.copy(grown, 0, 0, at);
      this.#bytes = grown;
    }
    return at;
  }
}
