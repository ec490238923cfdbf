/** A drain for tests: takes from all shards and records the batches. */
import type { StampedBatch } from '../../src/model/batch.ts';
import type { Queue, Shard, ShardWork, TakeLimits } from '../../src/queue/port.ts';

export interface Sunk {
  readonly shard: string;
  readonly batch: StampedBatch;
  /** First bytes of its payload, which is freed on release. */
  readonly text: string;
  readonly suspect: boolean;
}

export interface SinkOptions {
  readonly limits?: TakeLimits;
  /** Called with every take, before its batches are released. */
  readonly took?: (batches: readonly StampedBatch[], shard: Shard) => unknown;
  /** False: stops taking, and does not release taken batches. */
  readonly releases?: boolean;
}

export interface Sink extends ShardWork {
  /** In order of release. */
  readonly released: readonly Sunk[];
  readonly taken: readonly Sunk[];
  readonly shards: readonly Shard[];
}

const wide: TakeLimits = { maxRows: 1000, maxBytes: 1_000_000 };

/** Works on all shards of the queue until it is closed. */
export function openSink(queue: Queue, options: SinkOptions = {}): Sink {
  const released: Sunk[] = [];
  const taken: Sunk[] = [];
  const shards: Shard[] = [];
  const work = queue.work((shard) => {
    shards.push(shard);
    const closing = Promise.withResolvers<undefined>();
    const run = drain(shard, closing.promise);
    return {
      close() {
        closing.resolve(undefined);
        return run;
      },
    };
  });

  async function drain(shard: Shard, closed: Promise<undefined>): Promise<void> {
    for (;;) {
      const next = await Promise.race([shard.take(options.limits ?? wide), closed]);
      if (next === undefined) return;
      const { batches, suspect } = next;
      const sunk = batches.map((batch) => {
        const text = Buffer.from(batch.payload.subarray(0, 100)).toString().replace(/\0+$/, '');
        return { shard: shard.fencingToken.shard, batch, text, suspect };
      });
      taken.push(...sunk);
      await options.took?.(batches, shard);
      if (options.releases === false) return;
      try {
        await shard.release(batches);
      } catch (error) {
        // A lost shard returns no more batches.
        const more = await Promise.race([shard.take(options.limits ?? wide), closed]);
        if (more !== undefined) throw error;
        return;
      }
      released.push(...sunk);
    }
  }

  return { released, taken, shards, close: () => work.close() };
}
