/** A queue at NATS, drained in this process into a judging store that can be paused. */
import { openDrain } from '../../src/ingest/drain.ts';
import type { NatsSettings } from '../../src/queue/nats/connection.ts';
import { openNatsQueue } from '../../src/queue/nats/nats-queue.ts';
import type { Queue, ShardWork } from '../../src/queue/port.ts';
import { type Store, StoreInsertError } from '../../src/store/port.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { type JudgingStore, toSent } from './judging-store.ts';

const pace = { minIntervalMs: 20, maxIntervalMs: 50, heavyRowsPerSecond: 100_000 };
const retry = { firstPauseMs: 20, maxPauseMs: 200, attemptsPerBatch: 3, crashesPerBatch: 10 };

export interface DrainedQueue {
  readonly queue: Queue;
  /** Pauses inserts: their batches stay in NATS. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function openDrained(
  options: NatsSettings,
  judge: JudgingStore,
  logLevel: 'silent' | 'info' = 'silent',
): Promise<DrainedQueue> {
  const instruments = createInstruments(logLevel);
  const queue = await openNatsQueue(options, instruments, createQueueEvents(instruments));
  const telemetry = createDrainEvents(instruments);
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const store = toStore(judge, () => gate.promise);
  const work: ShardWork = queue.work((shard) =>
    openDrain({ shard, store, queue, telemetry }, { pace, retry, closeGraceMs: 500 }),
  );
  return {
    queue,
    pause() {
      gate = Promise.withResolvers<void>();
    },
    resume: () => gate.resolve(),
    async close() {
      gate.resolve();
      await work.close();
      await queue.close();
    },
  };
}

function toStore(judge: JudgingStore, whenOpen: () => Promise<void>) {
  const store: Pick<Store, 'insert' | 'fence' | 'ping' | 'crashes'> = {
    async insert(_, batches, mode, { shard, epoch }) {
      // A real store sends the batch at once; its memory is freed after a release.
      const sent = { shard, epoch: `${epoch}`, mode, batches: batches.map(toSent) };
      await whenOpen();
      refuseLate(await judge.insert(sent));
    },
    async fence({ shard, epoch }) {
      refuseLate(await judge.fence(shard, `${epoch}`));
    },
    ping: async () => true,
    crashes: () => 0,
  };
  return store;
}

function refuseLate(verdict: 'done' | 'superseded'): void {
  if (verdict === 'superseded') throw new StoreInsertError(verdict, 'a later holder was here');
}
