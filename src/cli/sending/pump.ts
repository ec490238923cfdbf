/** Reads a source into batches and sends them, no faster than they are delivered. */
import { addAbortSignal, Readable } from 'node:stream';
import { type Batch, Batcher, type BatchLimits, type OutgoingEvent } from './batcher.ts';
import type { Dispatcher } from './dispatcher.ts';

/** Converts bytes to events and keeps an unfinished line. */
export interface EventSource {
  push(chunk: Buffer): Iterable<OutgoingEvent>;
  end(): Iterable<OutgoingEvent>;
}

export interface PumpOptions extends BatchLimits {
  /** How long an event waits for others. */
  readonly lingerMs: number;
  /** Stops reading; batches in flight complete. */
  readonly stop: AbortSignal;
}

/**
 * Resolves once all that was read is settled, or after `stop`.
 * @throws the error of the source or of a delivery, once nothing is in flight
 */
export async function pump(
  chunks: AsyncIterable<Uint8Array>,
  source: EventSource,
  dispatcher: Dispatcher,
  options: PumpOptions,
): Promise<void> {
  const stop = AbortSignal.any([options.stop, dispatcher.failed]);
  const readable = chunks instanceof Readable ? chunks : Readable.from(chunks);
  const batcher = new Batcher(options);
  const send = async (batch: Batch | undefined): Promise<void> => {
    if (batch !== undefined && !stop.aborted) await dispatcher.send(batch);
  };
  const sendFull = async (events: Iterable<OutgoingEvent>): Promise<void> => {
    for (const event of events) await send(batcher.add(event));
  };

  try {
    const iterator = addAbortSignal(stop, readable)[Symbol.asyncIterator]();
    const read = () => {
      const result = iterator.next() as Promise<IteratorResult<Uint8Array>>;
      // Awaited below, unless a delivery fails before.
      result.catch(() => {});
      return result;
    };
    let next = read();
    let dueAt = Number.POSITIVE_INFINITY;
    while (!stop.aborted) {
      const result = await within(next, dueAt - performance.now());
      if (result?.done) break;
      if (result !== undefined) {
        const wasEmpty = batcher.size === 0;
        const { buffer, byteOffset, byteLength } = result.value;
        await sendFull(source.push(Buffer.from(buffer, byteOffset, byteLength)));
        if (wasEmpty) dueAt = performance.now() + options.lingerMs;
        next = read();
      }
      if (batcher.size === 0) dueAt = Number.POSITIVE_INFINITY;
      if (performance.now() < dueAt) continue;
      await send(batcher.take());
      dueAt = Number.POSITIVE_INFINITY;
    }
    await sendFull(source.end());
    await send(batcher.take());
  } catch (error) {
    // An abort makes the source throw.
    if (!stop.aborted) {
      await dispatcher.settle();
      throw error;
    }
  }
  await dispatcher.settle().catch((error: unknown) => {
    if (!options.stop.aborted) throw error;
  });
}

/** @returns undefined after the timeout. */
export async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  if (timeoutMs === Number.POSITIVE_INFINITY) return promise;
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, Math.max(0, timeoutMs), undefined);
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
