/**
 * Bytes to lines, whatever way the bytes are cut into chunks. It knows nothing of what a line says,
 * and holds no more than one unfinished line.
 */

export interface Line {
  /**
   * Without the line feed, with a carriage return before it; a view of the chunk. Undefined for a
   * line over the limit, whose bytes are gone.
   */
  readonly bytes: Buffer | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** How many bytes lie before what follows the line. */
  readonly endOffset: number;
}

/** Longer than any receiver takes with its defaults. */
const defaultMaxLineBytes = 16 * 1024 * 1024;
const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export class LineSplitter {
  readonly #maxLineBytes: number;
  #offset = 0;
  #lines = 0;
  /** The beginning of a line that has no end yet. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;

  constructor(maxLineBytes = defaultMaxLineBytes) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** @returns the lines that end in this chunk, to be used before it changes. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, at);
      if (end < 0) break;
      lines.push(this.#finish(chunk.subarray(at, end), 1));
      at = end + 1;
    }
    if (at < chunk.length) this.#keep(chunk.subarray(at));
    return lines;
  }

  /** @returns the last line, where the bytes did not end with a line feed. */
  end(): Line[] {
    return this.#pieceBytes === 0 ? [] : [this.#finish(Buffer.alloc(0), 0)];
  }

  #finish(rest: Buffer, feedBytes: number): Line {
    const length = this.#pieceBytes + rest.length;
    const isWhole = length <= this.#maxLineBytes;
    const whole = this.#pieceBytes === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    const isFirst = this.#offset === 0;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#offset += length + feedBytes;
    this.#lines += 1;
    return {
      bytes: isWhole ? withoutMark(whole, isFirst) : undefined,
      number: this.#lines,
      endOffset: this.#offset,
    };
  }

  #keep(piece: Buffer): void {
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.#maxLineBytes) this.#pieces = [];
    // A copy: the chunk is the source's to use again.
    else this.#pieces.push(Buffer.from(piece));
  }
}

function withoutMark(line: Buffer, isFirst: boolean): Buffer {
  return isFirst && line.subarray(0, 3).equals(byteOrderMark) ? line.subarray(3) : line;
}
