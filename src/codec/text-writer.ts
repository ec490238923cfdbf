/**
 * Writes texts as UTF-8 into one growing buffer. A string of all texts would be visited by each
 * garbage collection until it is complete.
 */

/** UTF-8 of a UTF-16 unit. */
const mostBytesPerUnit = 3;

export class TextWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(initialBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Lone surrogates become U+FFFD. */
  write(text: string): void {
    const needed = this.#length + text.length * mostBytesPerUnit;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** What was written; the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
