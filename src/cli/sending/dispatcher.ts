/** Sends batches concurrently. Untimed events go one batch after another, to keep their order. */
import type { Batch } from './batcher.ts';

export interface DispatcherOptions {
  /** Resolves once the batch is settled. */
  readonly deliver: (batch: Batch) => Promise<void>;
  readonly maxInFlight: number;
  /** Once aborted, no further batch is sent. */
  readonly stop: AbortSignal;
}

interface Entry {
  readonly endOffset: number;
  isSettled: boolean;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #inFlight = new Set<Promise<void>>();
  /** In the order of sending, from the first that is not settled. */
  readonly #entries: Entry[] = [];
  #settledOffset = 0;
  #ordered: Promise<void> = Promise.resolve();
  #failure: unknown;
  readonly #failed = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Aborted once a batch could not be delivered. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Every event before this byte of the source is settled. */
  get settledOffset(): number {
    return this.#settledOffset;
  }

  /** Resolves once the batch is in flight, or after `stop`. @throws an earlier batch's failure */
  async send(batch: Batch): Promise<void> {
    const { maxInFlight, stop } = this.#options;
    if (batch.isOrdered) await this.#ordered;
    while (this.#inFlight.size >= maxInFlight) await Promise.race(this.#inFlight);
    this.#throwIfFailed();
    if (stop.aborted) return;
    const entry = { endOffset: batch.events.at(-1)?.endOffset ?? 0, isSettled: false };
    this.#entries.push(entry);
    const run = this.#run(batch, entry).finally(() => this.#inFlight.delete(run));
    this.#inFlight.add(run);
    if (batch.isOrdered) this.#ordered = run;
  }

  /** Resolves once nothing is in flight. @throws a batch's failure */
  async settle(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.#throwIfFailed();
  }

  async #run(batch: Batch, entry: Entry): Promise<void> {
    try {
      await this.#options.deliver(batch);
      entry.isSettled = true;
      while (this.#entries[0]?.isSettled) {
        this.#settledOffset = this.#entries.shift()?.endOffset ?? 0;
      }
    } catch (error) {
      // Later failures follow from the first.
      if (!this.#failed.signal.aborted) this.#failure = error;
      this.#failed.abort();
    }
  }

  #throwIfFailed(): void {
    if (this.#failed.signal.aborted) throw this.#failure;
  }
}
