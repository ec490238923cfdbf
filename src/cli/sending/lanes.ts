/**
 * Several batches on their way at once, as many as there are lanes; whoever has more waits. Events
 * that the service stamps go one batch after the other, so that they read back in their order.
 */
import type { Batch } from './batcher.ts';

export interface LaneParts {
  /** Resolves once the batch is settled. */
  readonly deliver: (batch: Batch) => Promise<void>;
  readonly lanes: number;
  /** Once aborted, nothing more is put on its way. */
  readonly stop: AbortSignal;
}

interface Passage {
  readonly endOffset: number;
  isSettled: boolean;
}

export class Lanes {
  readonly #parts: LaneParts;
  readonly #underWay = new Set<Promise<void>>();
  /** In the order in which they were sent, from the first that is not settled. */
  readonly #passages: Passage[] = [];
  #settledOffset = 0;
  #ordered: Promise<void> = Promise.resolve();
  #failure: unknown;
  readonly #failed = new AbortController();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Aborted once a batch could not be delivered. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Bytes of the source of which every event is settled. */
  get settledOffset(): number {
    return this.#settledOffset;
  }

  /**
   * Resolves once the batch is on its way, or never will be since all is to stop.
   * @throws what an earlier batch failed with
   */
  async send(batch: Batch): Promise<void> {
    if (batch.isOrdered) await this.#ordered;
    while (this.#underWay.size >= this.#parts.lanes) await Promise.race(this.#underWay);
    this.#throwIfFailed();
    if (this.#parts.stop.aborted) return;
    const passage = { endOffset: batch.events.at(-1)?.endOffset ?? 0, isSettled: false };
    this.#passages.push(passage);
    const run = this.#run(batch, passage).finally(() => this.#underWay.delete(run));
    this.#underWay.add(run);
    if (batch.isOrdered) this.#ordered = run;
  }

  /** Resolves once nothing is on its way. @throws what a batch failed with */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwIfFailed();
  }

  async #run(batch: Batch, passage: Passage): Promise<void> {
    try {
      await this.#parts.deliver(batch);
      passage.isSettled = true;
      while (this.#passages[0]?.isSettled) {
        this.#settledOffset = this.#passages.shift()?.endOffset ?? 0;
      }
    } catch (error) {
      // The first failure tells why; the others follow from it.
      if (!this.#failed.signal.aborted) this.#failure = error;
      this.#failed.abort();
    }
  }

  #throwIfFailed(): void {
    if (this.#failed.signal.aborted) throw this.#failure;
  }
}
