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

export type Dispatcher = ReturnType<typeof createDispatcher>;

export function createDispatcher({ deliver, maxInFlight, stop }: DispatcherOptions) {
  const inFlight = new Set<Promise<void>>();
  /** In the order of sending, from the first that is not settled. */
  const entries: Entry[] = [];
  let settledOffset = 0;
  let ordered: Promise<void> = Promise.resolve();
  /** The reason is the first failure: later ones follow from it. */
  const failed = new AbortController();

  async function run(batch: Batch, entry: Entry): Promise<void> {
    try {
      await deliver(batch);
      entry.isSettled = true;
      while (entries[0]?.isSettled) settledOffset = entries.shift()?.endOffset ?? 0;
    } catch (error) {
      failed.abort(error);
    }
  }

  return {
    /** Aborted once a batch could not be delivered. */
    failed: failed.signal,
    /** Every event before this byte of the source is settled. */
    settledOffset: () => settledOffset,
    /** Resolves once the batch is in flight, or after `stop`. @throws an earlier batch's failure */
    async send(batch: Batch): Promise<void> {
      if (batch.isOrdered) await ordered;
      while (inFlight.size >= maxInFlight) await Promise.race(inFlight);
      failed.signal.throwIfAborted();
      if (stop.aborted) return;
      const entry = { endOffset: batch.events.at(-1)?.endOffset ?? 0, isSettled: false };
      entries.push(entry);
      const running = run(batch, entry).finally(() => inFlight.delete(running));
      inFlight.add(running);
      if (batch.isOrdered) ordered = running;
    },
    /** Resolves once nothing is in flight. @throws a batch's failure */
    async settle(): Promise<void> {
      await Promise.all(inFlight);
      failed.signal.throwIfAborted();
    },
  };
}
