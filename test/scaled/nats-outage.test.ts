/**
 * NATS killed, paused, cut off or without a leader: nothing acknowledged is lost or duplicated,
 * appends fail fast, and the queue recovers.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Queue } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { grew, isUnavailable, type Load, startLoad } from './nats-load.ts';
import { openQueue, owner, textOf, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsCluster, NatsServer, withManager } from './nats-server.ts';
import { describeStreams, readBatches } from './nats-contents.ts';

/** All acknowledged batches are stored, and none twice without a mark. */
async function checkStored(
  load: Load,
  servers: string[],
  options: { readonly prefix: string; readonly shards: number },
): Promise<void> {
  const stored = await readBatches(servers, options);
  const texts = new Set(stored.map(textOf));
  const lost = load.acknowledged.filter((text) => !texts.has(text));
  if (lost.length > 0) {
    const told = await describeStreams(servers, options);
    assert.fail(`acknowledged and lost: ${lost.join(' ')}\n${told}`);
  }
  const counts = new Map<string, number>();
  for (const batch of stored) {
    // Copies are looked up in the store.
    if (batch.copiesSince !== '') continue;
    counts.set(textOf(batch), (counts.get(textOf(batch)) ?? 0) + 1);
  }
  const twice = [...counts].filter(([, count]) => count > 1);
  assert.deepEqual(twice, [], 'present more than once');
  assert.equal(new Set(load.acknowledged).size, load.acknowledged.length);
}

suite('faults of a single NATS', { skip: missingNats() }, () => {
  let server: NatsServer;
  const queues: Queue[] = [];
  const proxies: FaultProxy[] = [];
  let prefixes = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(async () => {
    server?.resume();
    for (const queue of queues) await queue.close();
    for (const proxy of proxies) await proxy.close();
    await server?.stop();
  });

  async function open(over: Parameters<typeof toOptions>[1] = {}) {
    const options = toOptions([server.url], { prefix: `t${prefixes++}`, ...over });
    const queue = await openQueue(options);
    queues.push(queue);
    return { options, queue };
  }

  async function openBehindProxy(over: Parameters<typeof toOptions>[1] = {}) {
    const proxy = await openFaultProxy({ host: '127.0.0.1', port: server.place.port });
    proxies.push(proxy);
    const opened = await open({ urls: [`nats://127.0.0.1:${proxy.port}`], ...over });
    return { proxy, ...opened };
  }

  test('stores acknowledged batches once, over 20 kills and restarts', async () => {
    const { queue, options } = await open();
    const load = startLoad(queue, 8);
    // nats-server 2.9.10 that is killed within 0.1 s of making a stream may come back without the
    // stream's first messages, which it had acknowledged.
    await grew(load, 500);
    for (let round = 0; round < 20; round++) {
      await grew(load, 20);
      await server.kill();
      await server.restart();
    }
    await grew(load, 20);
    await load.stop();
    await checkStored(load, [server.url], options);
    // Each restart takes less than the grace period.
    assert.ok(load.refused.length < load.acknowledged.length / 10, `${load.refused.length}`);
  });

  test('refuses at once while NATS is down, and recovers', async () => {
    const { queue } = await open({ timeoutMs: 1000 });
    await server.kill();
    try {
      await until(() => !queue.status().writable, { what: 'the loss to be reported' });
      await assert.rejects(queue.append(toBatch('x'), owner), isUnavailable);
      // Would take minutes if each waited.
      for (let i = 0; i < 500; i++) {
        await assert.rejects(queue.append(toBatch('x'), owner), isUnavailable);
        await assert.rejects(queue.recall(Buffer.alloc(16)), isUnavailable);
      }
      assert.match(queue.status().reason, /not connected/);
      await assert.rejects(queue.receiptCutoff(), isUnavailable);
      await assert.rejects(queue.forgetSeries(), isUnavailable);
    } finally {
      await server.restart();
    }
    await until(() => isTaken(queue), { what: 'batches to be handed out again' });
    assert.equal(queue.status().writable, true);
  });

  test('times out once while NATS hangs, then refuses at once, and recovers', async () => {
    const { queue } = await open({ timeoutMs: 500 });
    server.pause();
    try {
      const late = Array.from({ length: 100 }, () => queue.append(toBatch('x', 1000), owner));
      const ends = await Promise.allSettled(late);
      assert.ok(ends.some(({ status }) => status === 'rejected'));
      for (let i = 0; i < 1000; i++) {
        await assert.rejects(queue.append(toBatch('x'), owner), isUnavailable);
      }
      assert.notEqual(queue.status().reason, '');
    } finally {
      server.resume();
    }
    await until(() => isTaken(queue), { what: 'batches to be handed out again' });
    await until(() => queue.status().writable, { what: 'all shards' });
  });

  test('stores a batch once when its acknowledgement is lost', async () => {
    const { queue, proxy, options } = await openBehindProxy();
    for (let round = 0; round < 20; round++) {
      proxy.hold('down');
      const appended = queue.append(toBatch(`round ${round}`), owner);
      const isStored = async () =>
        (await readBatches([server.url], options)).some(
          (each) => textOf(each) === `round ${round}`,
        );
      await until(isStored, { what: 'the batch to be stored' });
      proxy.cut();
      await proxy.pass();
      await appended;
    }
    const stored = await readBatches([server.url], options);
    assert.equal(stored.length, 20);
    assert.ok(stored.every(({ copiesSince }) => copiesSince === ''));
  });

  test('marks a batch as a copy if it is sent again after it was drained', async () => {
    const { queue, proxy, options } = await openBehindProxy({ shards: 1, timeoutMs: 20_000 });
    const stream = `${options.prefix}_0`;
    proxy.hold('down');
    const appended = queue.append(toBatch('x'), owner);
    await withManager([server.url], async ({ streams }) => {
      await until(async () => (await streams.info(stream)).state.messages === 1, {
        what: 'one message',
      });
      await streams.deleteMessage(stream, (await streams.info(stream)).state.last_seq);
    });
    await server.kill();
    await server.restart();
    proxy.cut();
    await proxy.pass();
    await appended;
    const stored = await readBatches([server.url], options);
    assert.equal(stored.length, 1);
    assert.notEqual(stored[0]!.copiesSince, '');
  });

  test('creates memory streams again after a restart', async () => {
    const { queue } = await open({ storage: 'memory' });
    await queue.append(toBatch('x'), owner);
    await server.kill();
    await server.restart();
    await until(() => isTaken(queue), { what: 'batches to be handed out again' });
    await until(() => queue.status().writable, { what: 'all shards' });
  });

  test('forgets series once when a stream is lost, whose batches may have had labels', async () => {
    const { queue: one, options } = await open();
    const two = await openQueue(options);
    queues.push(two);
    const heard = [0, 0];
    one.whenSeriesForgotten(() => heard[0]!++);
    two.whenSeriesForgotten(() => heard[1]!++);
    const append = () => one.append(toBatch('x', 1000), owner);
    const count = (batches: number) =>
      until(() => [one, two].every((queue) => queue.status().batches >= batches), {
        what: 'the batches to be counted',
      });
    await append();
    await count(1);
    assert.deepEqual(heard, [0, 0]);
    await withManager([server.url], ({ streams }) => streams.delete(`${options.prefix}_0`));
    await until(() => heard.every((times) => times > 0), { what: 'both nodes to notice' });
    for (let more = 0; more < 4; more++) await append();
    await count(4);
    assert.deepEqual(heard, [1, 1]);
  });

  test('delivers the series signal to a node that was cut off', async () => {
    const { queue: cutOff, proxy, options } = await openBehindProxy();
    const other = await openQueue({ ...options, urls: [server.url] });
    queues.push(other);
    let heard = 0;
    cutOff.whenSeriesForgotten(() => heard++);
    await proxy.refuse();
    await until(() => !cutOff.status().writable, { what: 'the loss to be reported' });
    await other.forgetSeries();
    assert.equal(heard, 0);
    await proxy.pass();
    await until(() => heard > 0, { what: 'the node to receive the signal' });
    assert.equal(heard, 1);
  });
});

suite('faults of a NATS cluster', { skip: missingNats() }, () => {
  let cluster: NatsCluster;
  const queues: Queue[] = [];
  before(async () => {
    cluster = await NatsCluster.start();
  });
  after(async () => {
    for (const queue of queues) await queue.close();
    await cluster?.stop();
  });

  test('loses and duplicates nothing when a leader is killed three times', async () => {
    const options = toOptions(cluster.urls, { timeoutMs: 10_000 });
    const queue = await openQueue(options);
    queues.push(queue);
    const load = startLoad(queue, 8);
    for (let round = 0; round < 3; round++) {
      await grew(load, 20);
      const leader = await cluster.leaderOf(`${options.prefix}_${round % 2}`);
      await leader.kill();
      await grew(load, 20);
      await leader.restart();
      await until(() => isInStep(cluster, options), { what: 'all replicas to be in sync' });
    }
    await load.stop();
    await checkStored(load, cluster.urls, options);
  });

  test('stores a key once that two gateways get at the same time', async () => {
    const options = toOptions(cluster.urls, { prefix: 'keys' });
    const both = [await openQueue(options), await openQueue(options)];
    queues.push(...both);
    const sizes = Array.from({ length: 40 }, (_, index) => (index % 8 === 0 ? 1_500_000 : 500));
    await Promise.all(
      sizes.flatMap((bytes, index) => {
        const answer = Buffer.from('an answer');
        const record = { key: randomBytes(16), bodyDigest: randomBytes(16), answer };
        return both.map((queue) => queue.append(toBatch(`${index}`, bytes), owner, record));
      }),
    );
    const stored = (await readBatches(cluster.urls, options)).map((batch) => Number(textOf(batch)));
    assert.deepEqual(
      stored.sort((a, b) => a - b),
      [...sizes.keys()],
    );
  });

  test('fails over to another server when one hangs', async () => {
    const options = toOptions(cluster.urls, { prefix: 'hangs', timeoutMs: 2000 });
    const queue = await openQueue(options);
    queues.push(queue);
    const leader = await cluster.leaderOf(`${options.prefix}_0`);
    const load = startLoad(queue, 4);
    await grew(load, 20);
    leader.pause();
    try {
      await until(() => load.refused.length > 0 || load.acknowledged.length > 1000, {
        what: 'a refusal or 1,000 more batches',
      });
      await until(() => queue.status().writable, { what: 'a new leader' });
      await grew(load, 20);
    } finally {
      leader.resume();
    }
    await load.stop();
    await until(() => isInStep(cluster, options), { what: 'all replicas to be in sync' });
    await checkStored(load, cluster.urls, options);
  });
});

suite('a NATS cluster without a majority', { skip: missingNats() }, () => {
  test('refuses batches, and recovers with one more server', async (t) => {
    const cluster = await NatsCluster.start();
    t.after(() => cluster.stop());
    const options = toOptions(cluster.urls, { timeoutMs: 2000 });
    const queue = await openQueue(options);
    t.after(() => queue.close());
    const load = startLoad(queue, 4);
    await grew(load, 20);
    const [one, two] = cluster.servers;
    await Promise.all([one!.kill(), two!.kill()]);
    await until(() => !queue.status().writable, { what: 'all shards to refuse' });
    await load.stop();
    const taken = load.acknowledged.length;
    for (let i = 0; i < 200; i++) {
      await assert.rejects(queue.append(toBatch('x'), owner), isUnavailable);
    }
    await one!.restart();
    await until(() => queue.status().writable, { what: 'a majority' });
    await until(() => isTaken(queue), { what: 'batches to be handed out again' });
    assert.equal(load.acknowledged.length, taken);
    await two!.restart();
    await until(() => isInStep(cluster, options), { what: 'all replicas to be in sync' });
    const stored = new Set((await readBatches(cluster.urls, options)).map(textOf));
    assert.deepEqual(
      load.acknowledged.filter((text) => !stored.has(text)),
      [],
    );
  });
});

/** Whether each shard has a leader and two followers in sync. */
async function isInStep(
  cluster: NatsCluster,
  { prefix, shards }: { readonly prefix: string; readonly shards: number },
): Promise<boolean> {
  try {
    return await withManager(cluster.urls, async ({ streams }) => {
      for (let shard = 0; shard < shards; shard++) {
        const replicas = (await streams.info(`${prefix}_${shard}`)).cluster?.replicas ?? [];
        if (replicas.length !== 2 || replicas.some((each) => !each.current || each.offline)) {
          return false;
        }
      }
      return true;
    });
  } catch {
    // No leader at the moment.
    return false;
  }
}

async function isTaken(queue: Queue): Promise<boolean> {
  try {
    await queue.append(toBatch('x'), owner);
    return true;
  } catch (error) {
    assert.ok(isUnavailable(error));
    return false;
  }
}
