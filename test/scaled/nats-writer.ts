/**
 * A writer process: drains the queue at NATS into the store of the test that started it, and
 * reports its shards. Its argument is `NatsSettings` as JSON.
 */
import { openDrain } from '../../src/ingest/drain.ts';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { FencingToken } from '../../src/model/fencing-token.ts';
import { openNatsQueue } from '../../src/queue/nats/nats-queue.ts';
import type { NatsSettings } from '../../src/queue/nats/connection.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { type SentInsert, toSent, type Verdict } from './judging-store.ts';
import type { FromWriter, ToWriter } from './nats-writers.ts';

const pace = { minIntervalMs: 20, maxIntervalMs: 50, heavyRowsPerSecond: 100_000 };
const retry = { firstPauseMs: 20, maxPauseMs: 200, attemptsPerBatch: 3, crashesPerBatch: 10 };

const waiting = new Map<number, (verdict: Verdict) => void>();
let calls = 0;

const options = JSON.parse(process.argv[2] ?? '') as NatsSettings;
const instruments = createInstruments('info');
const queue = await openNatsQueue(options, instruments, createQueueEvents(instruments));
const telemetry = createDrainEvents(instruments);

const store = {
  async insert(
    _: string,
    batches: readonly StampedBatch[],
    mode: 'all' | 'missing',
    by: FencingToken,
  ) {
    await judged({ insert: { ...sent(by), mode, batches: batches.map(toSent) } });
  },
  async fence(by: FencingToken) {
    await judged({ fence: sent(by) });
  },
  ping: async () => true,
  crashes: () => 0,
};

const work = queue.work((shard) => {
  const { shard: name } = shard.fencingToken;
  tell({ begun: name });
  const drain = openDrain({ shard, store, queue, telemetry }, { pace, retry });
  return {
    ended: drain.ended,
    async close() {
      await drain.close();
      tell({ ended: name });
    },
  };
});

process.on('message', (message: ToWriter) => {
  if ('close' in message) void close();
  else waiting.get(message.call)?.(message.verdict);
});
process.on('disconnect', () => process.exit(1));
tell({ ready: true });

async function close(): Promise<void> {
  await work.close();
  await queue.close();
  process.exit(0);
}

async function judged(asked: { insert: SentInsert } | { fence: ReturnType<typeof sent> }) {
  const call = calls++;
  const verdict = await new Promise<Verdict>((resolve) => {
    waiting.set(call, resolve);
    tell({ call, ...asked });
  });
  waiting.delete(call);
  if (verdict !== 'done') throw new StoreInsertError(verdict, 'a later holder was here');
}

function tell(message: FromWriter): void {
  process.send?.(message);
}

function sent({ shard, epoch }: FencingToken) {
  return { shard, epoch: epoch.toString() };
}
