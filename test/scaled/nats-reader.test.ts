/** A writer that holds a shard while NATS fails. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { connect, headers as createHeaders } from '@nats-io/transport-node';
import { openBucket } from '../../src/queue/nats/bucket.ts';
import { createQueueNames, openNatsLink } from '../../src/queue/nats/connection.ts';
import { headers } from '../../src/queue/nats/messages.ts';
import { openNatsQueue } from '../../src/queue/nats/nats-queue.ts';
import type { ShardReader } from '../../src/queue/nats/shard-reader.ts';
import { ShardWorker } from '../../src/queue/nats/shard-worker.ts';
import type { Queue, Shard, ShardWork } from '../../src/queue/port.ts';
import { createInstruments, type Instruments } from '../../src/telemetry/instruments.ts';
import {
  createNatsEvents,
  createQueueEvents,
  createShardEvents,
} from '../../src/telemetry/queue-events.ts';
import { until } from '../harness/until.ts';
import { openSink, type Sink } from '../queue/sink.ts';
import { cutEnd } from './nats-changes.ts';
import { owner, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer, withManager } from './nats-server.ts';

const wide = { maxRows: 1000, maxBytes: 64 * 1024 * 1024 };

suite('a writer at NATS', { skip: missingNats() }, () => {
  let server: NatsServer;
  let queue: Queue;
  let instruments: Instruments;
  let works: ShardWork[];
  let prefix = '';
  let prefixes = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    works = [];
    await open(1);
  });
  afterEach(async () => {
    for (const work of works) await work.close();
    await queue.close();
  });

  async function open(shards: number): Promise<void> {
    prefix = `r${prefixes++}`;
    instruments = createInstruments('silent');
    const options = toOptions([server.url], { prefix, shards });
    queue = await openNatsQueue(options, instruments, createQueueEvents(instruments));
  }

  function sink(...args: Parameters<typeof openSink>): Sink {
    const opened = openSink(...args);
    works.push(opened);
    return opened;
  }

  async function openShard(): Promise<Shard> {
    const shards: Shard[] = [];
    const work = queue.work((shard) => {
      shards.push(shard);
      return { close: async () => {} };
    });
    works.push(work);
    return until(() => shards[0], { what: 'the shard' });
  }

  async function publish(body: string, kind: string): Promise<void> {
    const connection = await connect({ servers: [server.url] });
    const head = createHeaders();
    head.set(headers.kind, kind);
    connection.publish(createQueueNames(prefix).subject(0), body, { headers: head });
    await connection.drain();
  }

  test('sets damaged messages aside with the reason, and forgets series', async () => {
    let forgotten = 0;
    queue.whenSeriesForgotten(() => forgotten++);
    await publish('no frame', 'frames');
    await publish('from a later version', 'something new');
    await queue.append(toBatch('good'), owner);
    const { released } = sink(queue);
    await until(() => released.length === 1, { what: 'the good batch' });
    const names = createQueueNames(prefix);
    await withManager([server.url], async ({ streams }) => {
      await until(async () => (await streams.info(names.stream(0))).state.messages <= 1, {
        what: 'the shard to contain at most a tick',
      });
      const first = await streams.getMessage(names.quarantineStream, { seq: 1 });
      assert.equal(first?.string(), 'no frame');
      assert.match(first.header.get(headers.reason), /not a frame/);
      const second = await streams.getMessage(names.quarantineStream, { seq: 2 });
      assert.match(second!.header.get(headers.reason), /something new/);
    });
    assert.equal(await metric('weir_queue_damaged_messages_total'), 2);
    assert.ok(forgotten > 0);
  });

  test('treats a stream that was created again as another shard of the store', async () => {
    const { released, shards } = sink(queue);
    await until(() => shards.length === 1, { what: 'the shard' });
    const stream = createQueueNames(prefix).stream(0);
    await withManager([server.url], async ({ streams }) => {
      const { config } = await streams.info(stream);
      await streams.delete(stream);
      await streams.add(config);
    });
    // More than before, so that sequences do not show the change.
    for (let count = 0; count < 100; count++) await publish('', 'tick');
    await queue.append(toBatch('new'), owner);
    await until(() => released.length === 1, { what: 'the batch' });
    const created = await withManager([server.url], async ({ streams }) => {
      return Date.parse((await streams.info(stream)).created);
    });
    assert.equal(released[0]!.shard, `${stream}@${created}`);
  });

  test('reads a large backlog without losing the connection', async () => {
    await queue.close();
    await open(4);
    const count = 700;
    const append = () => queue.append(toBatch('x', 300_000), owner);
    for (let index = 0; index < count; index += 50) {
      await Promise.all(Array.from({ length: 50 }, append));
    }
    const { released } = sink(queue, { limits: wide });
    await until(() => released.length === count, { what: 'all batches to be released' });
    assert.equal(await metric('weir_queue_consumers_lost_total'), 0);
  });

  test('hands batches out again as suspect after NATS was killed', async () => {
    await queue.append(toBatch('held'), owner);
    await queue.append(toBatch('large', 2_500_000), owner);
    const shards: Shard[] = [];
    works.push(
      queue.work((shard) => {
        shards.push(shard);
        return { close: async () => {} };
      }),
    );
    await until(() => shards[0]?.backlog().rows === 2, { what: 'two batches' });
    const taken = await shards[0]!.take(wide);
    await server.kill();
    await assert.rejects(shards[0]!.release(taken!.batches));
    await server.restart();
    await until(() => shards[1]?.backlog().rows === 2, { what: 'the same batches again' });
    const again = await shards[1]!.take(wide);
    assert.equal(again?.suspect, true);
    assert.deepEqual(
      again.batches.map(({ id }) => id),
      taken!.batches.map(({ id }) => id),
    );
    await shards[1]!.release(again.batches);
    await until(() => appended(), { what: 'the queue to accept a batch' });
    const next = await shards[1]!.take(wide);
    assert.deepEqual(
      next?.batches.map(({ payload }) => Buffer.from(payload).toString()),
      ['later'],
    );
    await shards[1]!.release(next.batches);
    assert.equal(shards[1]!.backlog().rows, 0);
    assert.equal(await metric('weir_queue_consumers_lost_total'), 1);
  });

  test('keeps messages that reuse the sequences of lost ones', async () => {
    const all = Array.from({ length: 10 }, (_, index) => `${index}`);
    for (const each of all) await queue.append(toBatch(`lost ${each}`), owner);
    const got = new Set<string>();
    let first: Shard | undefined;
    const mayGoOn = Promise.withResolvers<void>();
    const drain = async (shard: Shard) => {
      first ??= shard;
      if (shard === first) await mayGoOn.promise;
      for (;;) {
        const taken = await shard.take(wide);
        if (taken === undefined) return;
        for (const { payload } of taken.batches) got.add(Buffer.from(payload).toString());
        // Fails if the shard is no longer held.
        await shard.release(taken.batches).catch(() => undefined);
      }
    };
    works.push(
      queue.work((shard) => {
        void drain(shard);
        return { close: async () => mayGoOn.resolve() };
      }),
    );
    await until(() => first?.backlog().rows === all.length, { what: 'all batches to be held' });
    await server.kill();
    cutEnd(server.streamsFolder, [createQueueNames(prefix).stream(0)], 0);
    await server.restart();
    for (const each of all) await until(() => appended(`kept ${each}`), { what: 'an append' });
    mayGoOn.resolve();
    await until(() => all.every((each) => got.has(`kept ${each}`)), {
      what: 'all batches to be taken',
    });
  });

  test('begins at the watermark that it reached before it lost the connection', async () => {
    const settings = toOptions([server.url], { prefix, shards: 1, leaseSeconds: 60 });
    const own = createInstruments('silent');
    const events = createNatsEvents(own);
    const link = await openNatsLink(settings, events);
    const leases = await openBucket(link, link.names.leases, events);
    const telemetry = createShardEvents(own);
    // Hears nothing of what it publishes.
    const progress = { shardNanos: () => 0n, shardEpoch: () => 0n };
    const readers: ShardReader[] = [];
    const floors: bigint[] = [];
    const forgetSeries = async () => undefined;
    const parts = { link, leases, progress, telemetry, forgetSeries };
    const worker = new ShardWorker(parts, (shard) => {
      readers.push(shard as ShardReader);
      floors.push((shard as ShardReader).watermarkNanos);
      return { close: async () => {} };
    });
    await until(() => readers[0] && readers[0].watermarkNanos > 0n, { what: 'a watermark' });
    await server.kill();
    await until(() => !link.isConnected(), { what: 'the connection to be lost' });
    const reached = readers[0]!.watermarkNanos;
    await server.restart();
    await until(() => floors.length === 2, { what: 'the shard again' });
    await worker.close();
    leases.close();
    await link.close();
    const [, floor = 0n] = floors;
    assert.ok(floor >= reached, `${floor} is before ${reached}`);
  });

  test('releases nothing over another connection while its work is closing', async () => {
    await queue.append(toBatch('held'), owner);
    const shards: Shard[] = [];
    let isClosing = false;
    const mayClose = Promise.withResolvers<void>();
    const work = queue.work((shard) => {
      shards.push(shard);
      return {
        close() {
          isClosing = true;
          return mayClose.promise;
        },
      };
    });
    works.push(work);
    await until(() => shards[0]?.backlog().rows === 1, { what: 'the batch' });
    const taken = await shards[0]!.take(wide);
    const closed = work.close();
    await until(() => isClosing, { what: 'the work to be closing' });
    await server.kill();
    await server.restart();
    await until(() => appended(), { what: 'the queue to take a batch' });
    const [release] = await Promise.allSettled([shards[0]!.release(taken!.batches)]);
    mayClose.resolve();
    await closed;
    assert.equal(release.status, 'rejected');
    await withManager([server.url], async ({ streams }) => {
      const stream = createQueueNames(prefix).stream(0);
      assert.equal((await streams.getMessage(stream, { seq: 1 }))?.seq, 1);
    });
  });

  async function appended(text = 'later'): Promise<boolean> {
    try {
      await queue.append(toBatch(text), owner);
      return true;
    } catch {
      return false;
    }
  }

  test('hands a batch out once that is sent again while it is held', async () => {
    await queue.append(toBatch('once', 2_500_000), owner);
    const names = createQueueNames(prefix);
    // Its pieces again, as after a restart of NATS, which forgets message ids.
    await withManager([server.url], async ({ streams }) => {
      const { state } = await streams.info(names.stream(0));
      const connection = await connect({ servers: [server.url] });
      for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
        const stored = await streams.getMessage(names.stream(0), { seq: sequence });
        const head = createHeaders();
        for (const name of [headers.kind, headers.chunk]) {
          head.set(name, stored!.header.get(name));
        }
        head.set(headers.upload, 'again');
        connection.publish(names.subject(0), stored!.data, { headers: head });
      }
      await connection.drain();
    });
    const shard = await openShard();
    const taken = await shard.take(wide);
    await queue.append(toBatch('next'), owner);
    await until(() => shard.backlog().rows === 2, { what: 'the next batch' });
    await shard.release(taken!.batches);
    const next = await shard.take(wide);
    assert.equal(next?.batches.length, 1);
    await shard.release(next.batches);
    await withManager([server.url], async ({ streams }) => {
      await until(async () => (await streams.info(names.stream(0))).state.messages <= 1, {
        what: 'all copies to be acknowledged',
      });
    });
  });

  async function metric(name: string): Promise<number> {
    const found = await instruments.metrics.getSingleMetric(name)?.get();
    assert.ok(found, name);
    return found.values.reduce((sum, { value }) => sum + value, 0);
  }
});
