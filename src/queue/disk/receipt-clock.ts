/** Receive times: strictly increasing, whatever the system clock does. */
import { larger } from '../../std/big-integers.ts';

const nanosPerMs = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;

export class ReceiptClock {
  readonly #now: () => number;
  #last: bigint;

  /** @param last Unix ns; every stamp is later. @param now Unix ms */
  constructor(last: bigint, now: () => number) {
    this.#last = last;
    this.#now = now;
  }

  /** Unix ns; every later stamp is after it. */
  get last(): bigint {
    return this.#last;
  }

  /** @returns Unix ns. */
  stamp(): bigint {
    return (this.#last = larger(this.#last + 1n, this.#nowNanos()));
  }

  /** @returns Unix ns, not before now; every later stamp is after it */
  pass(): bigint {
    return (this.#last = larger(this.#last, this.#nowNanos()));
  }

  /**
   * Advances to a new second, for consumers that keep receive times in seconds.
   * @returns Unix ns, the last whole millisecond before it, not before any earlier stamp
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
