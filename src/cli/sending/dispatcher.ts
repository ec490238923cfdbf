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

export interface Dispatcher {
  /** Aborted once a batch could not be delivered. */
  readonly failed: AbortSignal;
  /** Every event before this byte of the source is settled. */
  settledOffset(): number;
  /** Resolves once the batch is in flight, or after `stop`. @throws an earlier batch's failure */
  send(batch: Batch): Promise<void>;
  /** Resolves once nothing is in flight. @throws a batch's failure */
  settle(): Promise<void>;
}

export function createDispatcher({ deliver, maxInFlight, stop }: DispatcherOptions): Dispatcher {
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
    failed: failed.signal,
    settledOffset: () => settledOffset,
    async send(batch) {
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
    async settle() {
      await Promise.all(inFlight);
      failed.signal.throwIfAborted();
    },
  };
}
