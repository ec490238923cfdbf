/**
 * Several writer processes drain the queue while they and NATS are killed and paused at random:
 * every acknowledged batch is stored exactly once.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createQueueNames, type NatsSettings } from '../../src/queue/nats/connection.ts';
import { headers, messageKinds } from '../../src/queue/nats/messages.ts';
import type { Queue } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { Random } from '../queue/random.ts';
import { JudgingStore } from './judging-store.ts';
import { openQueue, toOptions } from './nats-queues.ts';
import { openSender, type Sender } from './nats-sender.ts';
import { missingNats, NatsServer, withManager } from './nats-server.ts';
import { WriterProcess } from './nats-writers.ts';

const seed = Number(process.env['WEIR_TEST_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['WEIR_TEST_ROUNDS'] ?? 12);
const leaseMs = 2000;
const shards = 4;

suite(`writers that share the shards of a queue (seed ${seed})`, { skip: missingNats() }, () => {
  const random = new Random(seed);
  let server: NatsServer;
  let options: NatsSettings;
  let store: JudgingStore;
  let writers: WriterProcess[];
  let queue: Queue;
  let prefixes = 0;

  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    const prefix = `s${prefixes++}`;
    options = toOptions([server.url], {
      prefix,
      shards,
      leaseSeconds: leaseMs / 1000,
      timeoutMs: 1500,
    });
    store = new JudgingStore(random);
    writers = [];
    queue = await openQueue(options);
  });
  afterEach(async () => {
    for (const writer of writers) await writer.kill();
    await queue.close();
  });

  async function start(): Promise<WriterProcess> {
    const writer = await WriterProcess.start(options, store);
    writers.push(writer);
    return writer;
  }

  const holds = (count: number, ...some: WriterProcess[]) =>
    until(() => some.every((writer) => writer.shards.size === count), {
      what: `${count} shards for each of ${some.length} writers`,
    });

  test('balances shards when a writer joins and when one leaves', async () => {
    const first = await start();
    await holds(4, first);
    const second = await start();
    await holds(2, first, second);
    const third = await start();
    const all = [first, second, third];
    await until(() => all.every(({ shards: { size } }) => size === 1 || size === 2), {
      what: 'shares of one or two shards',
    });
    await until(() => new Set(all.flatMap((it) => [...it.shards])).size === shards, {
      what: 'every shard to be held',
    });
    assert.equal(await third.close(), 0);
    await holds(2, first, second);
    assert.deepEqual(store.faults, []);
  });

  test("takes over a killed writer's shards and stores its batches once", async (context) => {
    const first = await start();
    await holds(4, first);
    const second = await start();
    await holds(2, first, second);
    const sender = openSender(queue, random);
    await until(() => sender.acknowledged.size > 100, { what: 'enough acknowledged batches' });
    const killedMs = performance.now();
    await first.kill();
    await holds(4, second);
    context.diagnostic(`taken over ${Math.round(performance.now() - killedMs)} ms after kill -9`);
    await sender.stop();
    await allStored(sender);
  });

  test('hands shards over at once when a writer closes', async (context) => {
    const first = await start();
    await holds(4, first);
    const second = await start();
    await holds(2, first, second);
    const sender = openSender(queue, random);
    await until(() => sender.acknowledged.size > 100, { what: 'enough acknowledged batches' });
    const closedMs = performance.now();
    const closed = first.close();
    await holds(4, second);
    context.diagnostic(`taken over ${Math.round(performance.now() - closedMs)} ms after a close`);
    assert.equal(await closed, 0);
    await sender.stop();
    await allStored(sender);
  });

  test('a writer suspended for longer than its lease stores and releases nothing', async () => {
    const first = await start();
    await holds(4, first);
    const sender = openSender(queue, random);
    await until(() => sender.acknowledged.size > 50, { what: 'enough acknowledged batches' });
    const second = await start();
    await holds(2, first, second);
    first.pause();
    await holds(4, second);
    first.resume();
    await holds(2, first, second);
    await sender.stop();
    await allStored(sender);
  });

  test('exceeds the epochs of the store after leases were restored', async () => {
    const writer = await start();
    await holds(4, writer);
    const ahead = BigInt(Math.floor(Date.now() / 1000) + 3) << 32n;
    for (const shard of writer.shards) store.epochs.set(shard, ahead);
    const sender = openSender(queue, random);
    await until(() => sender.acknowledged.size > 20, { what: 'enough acknowledged batches' });
    await sender.stop();
    await allStored(sender);
    assert.ok(store.superseded > 0);
  });

  test('survives random kills, pauses, closes, joins and kills of NATS', {
    timeout: 200_000,
  }, async (t) => {
    await Promise.all([start(), start()]);
    const sender = openSender(queue, random);
    const done: string[] = [];
    for (let round = 0; round < rounds; round++) {
      await sleep(random.below(1000));
      const fault = random.pick(faults);
      done.push(fault.name);
      await fault({ random, writers, start, server });
    }
    t.diagnostic(`${done.join(', ')}; superseded ${store.superseded}, looked up ${store.missing}`);
    await sender.stop();
    t.diagnostic(`${sender.acknowledged.size} acknowledged, ${sender.refused.size} refused`);
    await allStored(sender);
  });

  /** Kinds of the messages in the streams, without ticks. */
  async function kindsLeft(): Promise<string[]> {
    const names = createQueueNames(options.prefix);
    const kinds: string[] = [];
    await withManager([server.url], async ({ streams }) => {
      for (let shard = 0; shard < shards; shard++) {
        const query = (seq: number) => ({ seq, next_by_subj: names.subject(shard) });
        for (let seq = 1; ; ) {
          const found = await streams.getMessage(names.stream(shard), query(seq));
          if (found === null) break;
          const kind = found.header.get(headers.kind);
          if (kind !== messageKinds.tick) kinds.push(kind);
          seq = found.seq + 1;
        }
      }
    });
    return kinds;
  }

  async function allStored({ acknowledged, refused }: Sender): Promise<void> {
    await until(() => [...acknowledged].every((text) => store.countOf(text) > 0), {
      what: 'all acknowledged batches to be stored',
      timeoutMs: 60_000,
    });
    const told = queue.watermarkNanos();
    await until(() => queue.watermarkNanos() > told, { what: 'the watermark to advance' });
    // Pieces of refused batches stay until the upload times out.
    const mayStay = (kind: string) => refused.size > 0 && kind === messageKinds.chunk;
    await until(async () => (await kindsLeft()).every(mayStay), {
      what: 'all messages with batches to be acknowledged',
    });
    assert.deepEqual(store.faults, []);
    for (const text of [...acknowledged, ...refused]) assert.ok(store.countOf(text) <= 1, text);
  }
});

interface Scene {
  readonly random: Random;
  readonly writers: WriterProcess[];
  readonly server: NatsServer;
  readonly start: () => Promise<WriterProcess>;
}

function remove({ random, writers }: Scene): WriterProcess {
  return writers.splice(random.below(writers.length), 1)[0]!;
}

const faults: readonly ((scene: Scene) => Promise<unknown>)[] = [
  async function killWriter(scene) {
    const killed = remove(scene);
    await killed.kill();
    await scene.start();
  },
  async function stopWriter({ random, writers }) {
    const writer = random.pick(writers);
    writer.pause();
    await sleep(leaseMs * (0.5 + random.below(100) / 100));
    writer.resume();
  },
  async function leaveAndJoin(scene) {
    const leaving = remove(scene);
    const [code] = await Promise.all([leaving.close(), scene.start()]);
    assert.equal(code, 0, leaving.output());
  },
  async function killNats({ random, server }) {
    await server.kill();
    await sleep(random.below(leaseMs * 1.5));
    await server.restart();
  },
  async function killNatsAndWriter(scene) {
    await scene.server.kill();
    await remove(scene).kill();
    await sleep(scene.random.below(500));
    await scene.server.restart();
    await scene.start();
  },
];
