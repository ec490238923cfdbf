/** Splits a connection into messages that each end with one byte. */

const nothing = Buffer.alloc(0);

export class DelimitedFrames {
  readonly #maxBytes: number;
  readonly #delimiter: number;
  #rest: Buffer = nothing;
  /** The rest of a cut message is still to come. */
  #isSkipping = false;

  /** @param maxBytes a longer message is cut */
  constructor(maxBytes: number, delimiter: number) {
    this.#maxBytes = maxBytes;
    this.#delimiter = delimiter;
  }

  /** Bytes of a message of which the end is missing. */
  get partialBytes(): number {
    return this.#rest.length;
  }

  push(chunk: Buffer): Buffer[] {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let at = 0;
    for (
      let end = data.indexOf(this.#delimiter);
      end >= 0;
      end = data.indexOf(this.#delimiter, at)
    ) {
      if (!this.#isSkipping && end > at) {
        frames.push(data.subarray(at, Math.min(end, at + this.#maxBytes)));
      }
      this.#isSkipping = false;
      at = end + 1;
    }
    const isTooLong = data.length - at > this.#maxBytes;
    if (isTooLong && !this.#isSkipping) frames.push(data.subarray(at, at + this.#maxBytes));
    this.#isSkipping ||= isTooLong;
    // A copy: a part of a read would keep all of it in memory.
    this.#rest = this.#isSkipping ? nothing : Buffer.from(data.subarray(at));
    return frames;
  }

  /**
   * @param isCut more of it may have been on its way: a shorter line of StatsD is another value
   * @returns the last message if it lacks its delimiter
   */
  end(isCut = false): Buffer | undefined {
    const last = this.#rest;
    this.#rest = nothing;
    return last.length > 0 && !isCut ? last : undefined;
  }
}
