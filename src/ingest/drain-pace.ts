/**
 * When the next insert may begin. A trickle must not become a table of tiny parts, a heavy load
 * should arrive in large ones, and the first batch after a quiet time must not wait at all. Pure:
 * times come in as arguments.
 */

export interface PaceOptions {
  /** Between the starts of two inserts under a light load. */
  readonly minIntervalMs: number;
  /** The same under a heavy one: larger parts cost far less per row. */
  readonly maxIntervalMs: number;
  /** The rate from which on a load counts as heavy; in between, the interval grows with it. */
  readonly heavyRowsPerSecond: number;
}

/**
 * For one of so many that share a load: each then waits as long as one alone would with all of it,
 * for a smaller portion. To wait until that is as large would keep readers waiting.
 */
export function shareOf(pace: PaceOptions, drains: number): PaceOptions {
  return { ...pace, heavyRowsPerSecond: pace.heavyRowsPerSecond / drains };
}

export class DrainPace {
  readonly #options: PaceOptions;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #intervalMs: number;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#intervalMs = options.minIntervalMs;
  }

  /** The earliest time at which an insert that is not full yet may begin. */
  get dueMs(): number {
    return this.#lastStartMs + this.#intervalMs;
  }

  /** Notes an insert of `rows` rows begun at `startMs`; they had gathered since the one before. */
  began(startMs: number, rows: number): void {
    const { minIntervalMs, maxIntervalMs, heavyRowsPerSecond } = this.#options;
    const gatheredMs = Math.max(minIntervalMs, startMs - this.#lastStartMs);
    const load = Math.min(1, (rows * 1000) / gatheredMs / heavyRowsPerSecond);
    this.#intervalMs = minIntervalMs + load * (maxIntervalMs - minIntervalMs);
    this.#lastStartMs = startMs;
  }
}
