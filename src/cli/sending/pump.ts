/**
 * From a source to the service: chunks become events, events batches, batches requests. It reads no
 * faster than it sends, and sends what is there when the source pauses.
 */
import { addAbortSignal, Readable } from 'node:stream';
import { type Batch, Batcher, type BatchLimits, type OutgoingEvent } from './batcher.ts';
import type { Lanes } from './lanes.ts';

/** Reads bytes; keeps what has no end yet. */
export interface EventSource {
  push(chunk: Buffer): Iterable<OutgoingEvent>;
  end(): Iterable<OutgoingEvent>;
}

export interface PumpOptions extends BatchLimits {
  /** How long an event waits for others. */
  readonly lingerMs: number;
  /** Ends the reading at once; what is under way is waited for. */
  readonly stop: AbortSignal;
}

/**
 * Resolves once all that was read is settled, or the stop was heeded.
 * @throws what a delivery or the source failed with, once nothing is under way any more
 */
export async function pump(
  chunks: AsyncIterable<Uint8Array>,
  source: EventSource,
  lanes: Lanes,
  options: PumpOptions,
): Promise<void> {
  const stop = AbortSignal.any([options.stop, lanes.failed]);
  const stream = addAbortSignal(stop, toStream(chunks));
  const batcher = new Batcher(options);
  const send = async (batch: Batch | undefined): Promise<void> => {
    if (batch !== undefined && !stop.aborted) await lanes.send(batch);
  };
  const sendFull = async (events: Iterable<OutgoingEvent>): Promise<void> => {
    for (const event of events) await send(batcher.add(event));
  };

  try {
    const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const take = () => {
      const taken = iterator.next();
      // Met where it is awaited; a failed delivery comes before that, and says why itself.
      taken.catch(() => {});
      return taken;
    };
    let next = take();
    let dueAt = Number.POSITIVE_INFINITY;
    while (!stop.aborted) {
      const result = await before(next, dueAt - performance.now());
      if (result?.done) break;
      if (result !== undefined) {
        const wasEmpty = batcher.size === 0;
        await sendFull(source.push(toBuffer(result.value)));
        if (wasEmpty) dueAt = performance.now() + options.lingerMs;
        next = take();
      }
      if (batcher.size === 0) dueAt = Number.POSITIVE_INFINITY;
      if (performance.now() < dueAt) continue;
      await send(batcher.take());
      dueAt = Number.POSITIVE_INFINITY;
    }
    await sendFull(source.end());
    await send(batcher.take());
  } catch (error) {
    // Stopping ends the source with an error of its own.
    if (!stop.aborted) await rethrowAfter(lanes, error);
  }
  await lanes.settle().catch((error: unknown) => {
    if (!options.stop.aborted) throw error;
  });
}

/** @returns undefined where the time is over first. */
async function before<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  if (timeoutMs === Number.POSITIVE_INFINITY) return promise;
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, Math.max(0, timeoutMs), undefined);
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

async function rethrowAfter(lanes: Lanes, error: unknown): Promise<never> {
  await lanes.settle();
  throw error;
}

function toStream(chunks: AsyncIterable<Uint8Array>): Readable {
  return chunks instanceof Readable ? chunks : Readable.from(chunks);
}

function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
