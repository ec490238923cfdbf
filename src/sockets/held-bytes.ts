/** A cap on memory that connections hold, over all of them. */

export interface HeldBytes {
  /** Replaces what was held. @returns false if the cap has no room for it */
  hold(bytes: number): boolean;
  release(): void;
}

export class HeldMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  open(): HeldBytes {
    let held = 0;
    const hold = (bytes: number) => {
      this.#bytes += bytes - held;
      held = bytes;
      return bytes === 0 || this.#bytes <= this.#maxBytes;
    };
    return { hold, release: () => void hold(0) };
  }
}
