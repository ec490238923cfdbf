/**
 * Times of receipt: strictly increasing, whatever the clock of the machine does. It knows nothing
 * of batches.
 */

const nanosPerMs = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;

export class ReceiptClock {
  readonly #now: () => number;
  #last: bigint;

  /** @param last Unix ns; nothing is stamped so again. @param now Unix ms. */
  constructor(last: bigint, now: () => number) {
    this.#last = last;
    this.#now = now;
  }

  /** Unix ns; nothing later is stamped so, or before. */
  get last(): bigint {
    return this.#last;
  }

  /** @returns Unix ns. */
  stamp(): bigint {
    return (this.#last = larger(this.#last + 1n, this.#nowNanos()));
  }

  /** @returns Unix ns, not before now; everything later is stamped after it. */
  pass(): bigint {
    return (this.#last = larger(this.#last, this.#nowNanos()));
  }

  /**
   * Goes on with a new second, for those who keep times of receipt in seconds.
   * @returns Unix ns, the last whole millisecond before it and not before any stamp so far.
   */
  passSecond(): bigint {
    const latest = this.pass() + nanosPerMs - 1n;
    const secondEnd = (latest / nanosPerSecond + 1n) * nanosPerSecond;
    this.#last = secondEnd - 1n;
    return secondEnd - nanosPerMs;
  }

  #nowNanos(): bigint {
    return BigInt(this.#now()) * nanosPerMs;
  }
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
