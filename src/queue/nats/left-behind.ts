/**
 * Notices messages that lie in a stream though its consumer is past them: a server that was killed
 * may remember acknowledgements, and have forgotten that the messages were removed. Pure.
 */

/** Looks in a row that must agree: an acknowledgement may be confirmed just before one. */
const looksInARow = 3;
const mostLooksInARow = 100;

export class LeftBehind {
  #suspect = 0;
  #looks = 0;
  /** More each time that the same one is found again: what did not help then is not hurried. */
  #wanted = looksInARow;

  /**
   * To be told now and then.
   * @param first of the stream's messages
   * @param lowest that the reader has not done with, or that is still to come
   * @returns true where nobody will ever get the first one, unless the consumer is made anew
   */
  isSeen(first: number, lowest: number): boolean {
    const isBehind = first < lowest;
    if (first !== this.#suspect) {
      this.#suspect = first;
      this.#looks = 0;
      this.#wanted = looksInARow;
    }
    this.#looks = isBehind ? this.#looks + 1 : 0;
    if (this.#looks < this.#wanted) return false;
    this.#looks = 0;
    this.#wanted = Math.min(2 * this.#wanted, mostLooksInARow);
    return true;
  }
}
