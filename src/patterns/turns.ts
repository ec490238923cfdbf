/** Lets other requests run while many tokens are looked at. */
import { setImmediate } from 'node:timers/promises';

/** About 10 ms. */
const tokensPerTurn = 50_000;

export class Turns {
  #tokens = 0;

  /** @param tokens that were looked at since the last call. */
  isOver(tokens: number): boolean {
    this.#tokens += tokens;
    return this.#tokens >= tokensPerTurn;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#tokens = 0;
  }
}
