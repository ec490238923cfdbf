/**
 * Writes protobuf fields (https://protobuf.dev/programming-guides/encoding) into a message whose
 * size is known beforehand. It knows no message.
 */

/** Field numbers must be below 16. 64-bit numbers come as their two halves. */
export class MessageWriter {
  readonly #bytes: Buffer;
  #at = 0;

  /** @param size of the whole message, exactly. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** In front of a length-delimited field. */
  header(field: number, length: number): void {
    this.#bytes[this.#at++] = (field << 3) | 2;
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
    bytes[at] = (field << 3) | 1;
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

  int64(field: number, low: number, high: number): void {
    this.#bytes[this.#at++] = field << 3;
    this.#varint(low, high);
  }

  /** @throws Error when less or more was written than was announced */
  finish(): Uint8Array {
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

/** Of a 64-bit number given as its two halves. */
export function byteLengthOfVarint(low: number, high: number): number {
  if (high !== 0) return Math.ceil((64 - Math.clz32(high)) / 7);
  return low === 0 ? 1 : Math.ceil((32 - Math.clz32(low)) / 7);
}
