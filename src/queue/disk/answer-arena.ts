/** Bytes kept in the order they came, in a few large pieces that are dropped from the old end. */

const pieceBytes = 64 * 1024;

interface Piece {
  readonly bytes: Uint8Array;
  /** Where it begins in the endless row of all bytes. */
  readonly start: number;
}

export class AnswerArena {
  #pieces: Piece[] = [];
  #end = 0;

  /** The position the next bytes may get, at the earliest. */
  get end(): number {
    return this.#end;
  }

  /** Copies the bytes in. @returns their position. */
  append(bytes: Uint8Array): number {
    let last = this.#pieces.at(-1);
    if (last === undefined || this.#end + bytes.length > last.start + last.bytes.length) {
      const start = last === undefined ? this.#end : last.start + last.bytes.length;
      last = { bytes: new Uint8Array(Math.max(pieceBytes, bytes.length)), start };
      this.#pieces.push(last);
      this.#end = start;
    }
    const position = this.#end;
    last.bytes.set(bytes, position - last.start);
    this.#end += bytes.length;
    return position;
  }

  /** A copy of the bytes that `append` put at this position. */
  read(position: number, length: number): Uint8Array {
    const piece = this.#pieces.findLast((each) => each.start <= position);
    if (piece === undefined) throw new Error(`cannot read answer at ${position}: it was dropped`);
    return piece.bytes.slice(position - piece.start, position - piece.start + length);
  }

  /** Lets go of all that lies before this position. */
  dropBefore(position: number): void {
    let [, second] = this.#pieces;
    while (second !== undefined && second.start <= position) {
      this.#pieces.shift();
      [, second] = this.#pieces;
    }
  }
}
