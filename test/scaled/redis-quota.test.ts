/** The quota store on Redis, by the common contract, shared by several gateways. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bucket } from '../../src/admission/port.ts';
import { until } from '../harness/until.ts';
import { quotaContract } from '../admission/quota-contract.ts';
import { missingRedis, RedisServer } from './redis-server.ts';
import { openStore, type ObservedQuota } from './redis-store.ts';

const skip = missingRedis();

quotaContract('Redis', openOne, { runs: 25, skip });

async function openOne() {
  const server = await RedisServer.start();
  const store = await openStore(server.url);
  return {
    store,
    pass: (ms: number) => sleep(ms),
    nowMs: () => performance.now(),
    close: async () => {
      await store.close();
      await server.stop();
    },
  };
}

suite('several gateways on one Redis', { skip }, () => {
  let server: RedisServer;
  let gateways: [ObservedQuota, ObservedQuota];
  before(async () => {
    server = await RedisServer.start();
    gateways = [await openStore(server.url), await openStore(server.url)];
  });
  after(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway.close()));
    await server?.stop();
  });

  test('concurrent charges share one burst exactly', async () => {
    const [receiver, account] = bucketsOf('burst', { eventsPerSecond: 1e-6, burstEvents: 149.5 });
    const asked = Array.from({ length: 400 }, async (_, i) =>
      gateways[i % 2]!.take([receiver, { ...account, burstEvents: 1000 }], 1),
    );
    const taken = await Promise.all(asked);
    assert.equal(taken.filter(Boolean).length, 150);
  });

  test('over time both together get the rate and one burst', async () => {
    const [bucket] = bucketsOf('rate', { eventsPerSecond: 2000, burstEvents: 1000 });
    const startMs = performance.now();
    const elapsed = () => performance.now() - startMs;
    let taken = 1;
    assert.equal(await gateways[0].take([bucket], taken), true);
    // Below full, so that no refill is lost.
    const begunMs = elapsed();
    // Until the bucket is empty, so that a busy machine leaves no remainder.
    const send = async (gateway: ObservedQuota, events: number) => {
      for (;;) {
        const askedMs = elapsed();
        if (await gateway.take([bucket], events)) taken += events;
        else if (askedMs >= begunMs + 700) return;
      }
    };
    await Promise.all([send(gateways[0], 3), send(gateways[1], 7), send(gateways[1], 1)]);
    const lastBatch = 7;
    const [least, most] = [1000 + 2 * 700, 1000 + 2 * elapsed() + lastBatch];
    assert.ok(taken <= most * 1.01, `${taken} of ${most}`);
    assert.ok(taken >= least * 0.95, `only ${taken} of ${least}`);
  });

  test("each learns of the other's debt with its next charge", async () => {
    const [bucket] = bucketsOf('debt', { eventsPerSecond: 1e-6, burstEvents: 10 });
    const [one, other] = gateways;
    assert.equal(await one.take([bucket], 100), true);
    assert.equal(other.level(bucket), 10);
    assert.equal(await other.take([bucket], 1), false);
    assert.equal(Math.round(other.level(bucket)), -90);
  });

  test('a key expires when its bucket would be full', async () => {
    await server.command('FLUSHALL');
    const buckets = bucketsOf('gone', { eventsPerSecond: 1, burstEvents: 30 });
    await gateways[0].take(buckets, 20);
    assert.match(await server.command('DBSIZE'), /^:2\r/);
    const wait = await server.command('PTTL weir:quota:{gone}:receiver:gone-receiver');
    const waitMs = Number(wait.slice(1).trim());
    assert.ok(waitMs > 0 && waitMs <= 20_001, wait);
    gateways[0].giveBack(buckets, 1000);
    await gateways[0].take(buckets, 0);
    assert.match(await server.command('DBSIZE'), /^:0\r/);
  });

  test('buckets of an account share a cluster slot', async () => {
    await server.command('FLUSHALL');
    await gateways[0].take(bucketsOf('slot', { eventsPerSecond: 1e-6, burstEvents: 30 }), 20);
    const keys = (await server.command('KEYS *'))
      .split('\r\n')
      .filter((word) => word.startsWith('weir'));
    assert.deepEqual(keys.sort(), [
      'weir:quota:{slot}:account:slot',
      'weir:quota:{slot}:receiver:slot-receiver',
    ]);
  });

  test('a server clock set back grants nothing and continues', async () => {
    const [, account] = bucketsOf('clock', { eventsPerSecond: 1000, burstEvents: 1e6 });
    const key = 'weir:quota:{clock}:account:clock';
    await server.command(`SET ${key} "-5 9000000000000000"`);
    assert.equal(await gateways[0].take([account], 1), false);
    assert.equal(Math.round(gateways[0].level(account)), -5);
    const isPaid = () => gateways[0].take([account], 1);
    await until(isPaid, { what: 'the debt to be paid' });
  });

  test('a key of another type counts as unknown', async () => {
    const [, account] = bucketsOf('other', { eventsPerSecond: 1, burstEvents: 10 });
    await server.command('SET weir:quota:{other}:account:other hello');
    assert.equal(await gateways[0].take([account], 4), true);
    assert.equal(Math.round(gateways[0].level(account)), 6);
  });

  test('measures the duration of charges', async () => {
    const timed = await gateways[0].metric('weir_quota_store_seconds');
    await gateways[0].take(bucketsOf('timed', { eventsPerSecond: 1, burstEvents: 1 }), 1);
    assert.ok((await gateways[0].metric('weir_quota_store_seconds')) > timed);
    assert.equal(await gateways[0].metric('weir_quota_store_failures_total'), 0);
  });
});

function bucketsOf(
  accountId: string,
  rate: Pick<Bucket, 'eventsPerSecond' | 'burstEvents'>,
): [Bucket, Bucket] {
  return [
    { policy: 'receiver', owner: `${accountId}-receiver`, accountId, ...rate },
    { policy: 'account', owner: accountId, accountId, ...rate },
  ];
}
