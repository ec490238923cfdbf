/** A cap on the memory of messages of which the end is missing, over all connections. */

export interface PartialMessage {
  /** @returns false if the cap has no room: the connection must be closed */
  hold(bytes: number): boolean;
  release(): void;
}

export class PartialMessages {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  open(): PartialMessage {
    let held = 0;
    const hold = (bytes: number) => {
      this.#bytes += bytes - held;
      held = bytes;
      return bytes === 0 || this.#bytes <= this.#maxBytes;
    };
    return { hold, release: () => void hold(0) };
  }
}
