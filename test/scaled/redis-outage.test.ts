/**
 * Redis stops, hangs, forgets, refuses or is missing: charges fail as unavailable at little cost,
 * nothing accumulates, and all recovers.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Bucket } from '../../src/admission/port.ts';
import { AppError } from '../../src/model/errors.ts';
import { until } from '../harness/until.ts';
import { missingRedis, RedisServer } from './redis-server.ts';
import { openStore, type ObservedQuota } from './redis-store.ts';

/** A busy machine must not look like a hanging Redis. */
const timeoutMs = 1000;
const failures = 'weir_quota_store_failures_total';

suite('a Redis in trouble', { skip: missingRedis() }, () => {
  let server: RedisServer;
  let store: ObservedQuota;
  let owners = 0;
  before(async () => {
    server = await RedisServer.start();
    store = await openStore(server.url, { timeoutMs });
  });
  after(async () => {
    await store?.close();
    await server?.stop();
  });
  afterEach(() => answersAgain());

  const answersAgain = () =>
    until(() => isTaken(store, openBucket(5)), { what: 'charges to succeed again' });

  function openBucket(burstEvents: number): Bucket {
    owners += 1;
    const accountId = `account-${owners}`;
    return { policy: 'account', owner: accountId, accountId, eventsPerSecond: 1e-6, burstEvents };
  }

  test('hanging: charges in flight time out, later ones fail at once', async () => {
    const bucket = openBucket(5);
    server.signal('SIGSTOP');
    try {
      const away = await failuresOf('away');
      await Promise.all([isUnavailable(bucket), isUnavailable(bucket)]);
      for (let i = 0; i < 1000; i += 1) await isUnavailable(bucket);
      assert.ok((await failuresOf('timeout')) > 0);
      assert.equal(await failuresOf('away'), away + 1000);
      assert.equal(store.level(bucket), 5);
    } finally {
      server.signal('SIGCONT');
    }
    await answersAgain();
    await until(async () => (await server.connections()) === 1, { what: 'one connection' });
  });

  test('hanging: more than some thousand charges do not wait', async () => {
    const bucket = openBucket(5);
    const busy = await failuresOf('busy');
    server.signal('SIGSTOP');
    try {
      await Promise.all(Array.from({ length: 10_050 }, () => isUnavailable(bucket)));
      assert.equal(await failuresOf('busy'), busy + 50);
    } finally {
      server.signal('SIGCONT');
    }
  });

  test('killed and restarted: buckets are full, the script is loaded again', async () => {
    const bucket = openBucket(5);
    assert.equal(await isTaken(store, bucket, 100), true);
    await server.halt();
    await isUnavailable(bucket);
    store.giveBack([bucket], 1);
    await until(async () => (await store.metric(failures, { work: 'refund' })) === 1, {
      what: 'the failed refund to be counted',
    });
    await server.restart();
    await answersAgain();
    assert.equal(await isTaken(store, bucket, 100), true);
    assert.equal(store.level(bucket) < -94, true);
  });

  test('logs an outage once when it begins and once when it ends', async () => {
    const mark = store.logged.length;
    await server.halt();
    await until(async () => (await store.metric('weir_quota_store_connected')) === 0, {
      what: 'the lost connection to be detected',
    });
    await server.restart();
    await answersAgain();
    const messages = store.logged.slice(mark).map((line) => (JSON.parse(line) as Line).msg);
    assert.deepEqual(messages, [
      'quota store does not answer; receivers with quotas get 503',
      'quota store answers again',
    ]);
    assert.equal(await store.metric('weir_quota_store_connected'), 1);
  });

  test('scripts flushed: the charge succeeds', async () => {
    await server.command('SCRIPT FLUSH');
    assert.equal(await isTaken(store, openBucket(5)), true);
  });

  test('data flushed: the bucket is full', async () => {
    const bucket = openBucket(5);
    assert.equal(await isTaken(store, bucket, 100), true);
    await server.command('FLUSHALL');
    assert.equal(await isTaken(store, bucket, 1), true);
  });

  test('out of memory: unavailable, on the same connection', async () => {
    const lost = store.logged.length;
    await server.command('CONFIG SET maxmemory 1');
    try {
      await isUnavailable(openBucket(5));
      assert.ok((await failuresOf('refused')) > 0);
    } finally {
      await server.command('CONFIG SET maxmemory 0');
    }
    assert.equal(await isTaken(store, openBucket(5)), true);
    assert.equal(store.logged.length, lost);
  });

  test('demoted to a replica: unavailable until it is writable', async () => {
    await server.command('REPLICAOF 127.0.0.1 1');
    await isUnavailable(openBucket(5));
    await server.command('REPLICAOF NO ONE');
  });

  test('connection cut midway: unavailable or charged, then recovers', async () => {
    const bucket = openBucket(1e6);
    const charges = Promise.allSettled(
      Array.from({ length: 50 }, async () => store.take([bucket], 1)),
    );
    await server.command('CLIENT KILL TYPE normal SKIPME yes');
    for (const charge of await charges) {
      const isTold =
        charge.status === 'fulfilled' ? charge.value : isUnavailableError(charge.reason);
      assert.ok(isTold, JSON.stringify(charge));
    }
  });

  test('missing at the start: opens, and connects later', async () => {
    const late = await RedisServer.start();
    await late.halt();
    const early = await openStore(late.url, { timeoutMs });
    try {
      await assert.rejects(async () => early.take([openBucket(5)], 1), isUnavailableError);
      await late.restart();
      await until(() => isTaken(early, openBucket(5)), { what: 'a charge to succeed' });
    } finally {
      await early.close();
      await late.stop();
    }
  });

  async function isUnavailable(bucket: Bucket): Promise<void> {
    await assert.rejects(async () => store.take([bucket], 1), isUnavailableError);
  }

  function failuresOf(kind: string): Promise<number> {
    return store.metric(failures, { work: 'charge', kind });
  }
});

interface Line {
  readonly msg: string;
}

/** Also false when the store is unavailable. */
async function isTaken(store: ObservedQuota, bucket: Bucket, events = 1): Promise<boolean> {
  try {
    return await store.take([bucket], events);
  } catch (error) {
    if (isUnavailableError(error)) return false;
    throw error;
  }
}

function isUnavailableError(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable' && error.cause !== undefined;
}
