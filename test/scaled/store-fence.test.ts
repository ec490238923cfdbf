/**
 * Two owners of a shard on one server with a delaying network: after the later one has fenced,
 * nothing of the earlier one lands, and adding what is missing stores every row once.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { FencingToken } from '../../src/model/fencing-token.ts';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { until } from '../harness/until.ts';
import { stampedBatch } from '../store/log-row-fixture.ts';
import { metricBatch, newOwner } from '../store/metric-fixture.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { openStoreServer, type StoreServer } from './store-server.ts';

let server: StoreServer;
let proxy: FaultProxy;
/** Behind the proxy, like a partitioned process. */
let earlier: ClickHouseStore;
let later: ClickHouseStore;
before(async () => {
  server = await openStoreServer();
  proxy = await openFaultProxy({ port: server.port });
  earlier = await server.open(proxy.port);
  later = await server.open();
});
beforeEach(untilBack);
after(async () => {
  await proxy.close();
  await server.close();
});

/** After a long partition it probes the server first. */
async function untilBack(): Promise<void> {
  await until(() => earlier.ping(), { what: 'the store to be available again' });
}

const noon = BigInt(Date.parse('2026-04-01T12:00:00Z')) * 1_000_000n;
const nanosPerDay = 86_400_000_000_000n;

/** Over three days of receipt, so that an insert creates three parts. */
function newBatches(rows: number): StampedBatch[] {
  const owner = newOwner();
  return [0n, 1n, 2n].map((day) =>
    stampedBatch(
      Array.from({ length: rows }, (_, i) => ({ body: `row ${i} ${'x'.repeat(200)}` })),
      { owner, receivedAtNanos: noon + day * nanosPerDay },
    ),
  );
}

async function rowsOf([batch]: readonly StampedBatch[]): Promise<[all: number, once: number]> {
  const [row] = await later.connection.query<[string, string]>('housekeeping', {
    sql: `SELECT toString(count()), toString(uniqExact(Batch, Row)) FROM weir.logs
WHERE AccountId = {account:String}`,
    params: { account: batch!.owner.accountId },
  });
  return [Number(row![0]), Number(row![1])];
}

async function failureOf(attempt: Promise<unknown>): Promise<StoreInsertError['failure']> {
  const error = await attempt.then(
    () => assert.fail('the insert succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreInsertError, String(error));
  return error.failure;
}

/** Two successive owners of a separate shard. */
function newTokens(): [FencingToken, FencingToken] {
  const shard = `shard ${randomUUID()}`;
  return [
    { shard, epoch: 7n },
    { shard, epoch: 9n },
  ];
}

for (const kind of ['logs', 'metrics'] as const) {
  test(`refuses ${kind} in flight when the shard was fenced`, async () => {
    const [old, next] = newTokens();
    const batches = kind === 'logs' ? newBatches(10) : [oneSample()];
    const layout = kind === 'logs' ? 'logs/1' : 'metrics/1';
    await earlier.fence(old);
    const sentBefore = proxy.passed('up');
    proxy.hold('up');
    const insert = failureOf(earlier.insert(layout, batches, 'all', old));
    await later.fence(next);
    assert.equal(proxy.passed('up'), sentBefore);
    await later.insert(layout, batches, 'missing', next);
    await proxy.pass();
    assert.equal(await insert, 'superseded');
    if (kind === 'logs') assert.deepEqual(await rowsOf(batches), [30, 30]);
  });
}

function oneSample(): StampedBatch {
  const metric = { name: 'up', samples: [[1, 1]] } as const;
  return metricBatch([metric], { owner: newOwner(), receivedAtNanos: noon });
}

test('refuses a late fence of an earlier owner', async () => {
  const [old, next] = newTokens();
  await later.fence(next);
  assert.equal(await failureOf(earlier.fence(old)), 'superseded');
  assert.equal(await failureOf(earlier.insert('logs/1', newBatches(1), 'all', old)), 'superseded');
  const batches = newBatches(1);
  await later.insert('logs/1', batches, 'all', next);
  assert.deepEqual(await rowsOf(batches), [3, 3]);
});

test('an owner needs no fence to begin, and other shards are unaffected', async () => {
  const [one] = newTokens();
  const [other] = newTokens();
  const batches = newBatches(2);
  await earlier.insert('logs/1', batches.slice(0, 1), 'all', one);
  await later.fence(other);
  await earlier.insert('logs/1', batches.slice(1), 'all', one);
  assert.deepEqual(await rowsOf(batches), [6, 6]);
});

test('an insert concurrent with the fence lands completely before it, or never', async () => {
  const outcomes = new Set<string>();
  for (let attempt = 0; attempt < 4; attempt++) {
    const [old, next] = newTokens();
    const batches = newBatches(4_000);
    await earlier.fence(old);
    const insert = earlier.insert('logs/1', batches, 'all', old).then(
      () => 'stored',
      (error: unknown) => (error as StoreInsertError).failure,
    );
    const [bytesBefore, bytes] = [proxy.passed('up'), batches[0]!.payload.length * 3];
    await until(() => proxy.passed('up') > bytesBefore + (bytes * attempt) / 3, {
      what: 'a part of the insert to be sent',
      everyMs: 1,
    });
    await later.fence(next);
    const [fenced] = await rowsOf(batches);
    const outcome = await insert;
    assert.deepEqual(
      await rowsOf(batches),
      [fenced, fenced],
      'no row may be stored after the fence',
    );
    if (outcome === 'stored') assert.equal(fenced, 12_000);
    await later.insert('logs/1', batches, 'missing', next);
    assert.deepEqual(await rowsOf(batches), [12_000, 12_000]);
    outcomes.add(outcome);
  }
  assert.ok(!outcomes.has('data'), [...outcomes].join());
});

test('an owner whose insert got no answer fences itself, then adds what is missing', async () => {
  const [token] = newTokens();
  const batches = newBatches(100);
  await earlier.fence(token);
  proxy.hold('down');
  const insert = failureOf(earlier.insert('logs/1', batches, 'all', token));
  await until(async () => (await rowsOf(batches))[0] === 300, { what: 'the rows to land' });
  proxy.cut();
  assert.equal(await insert, 'unknown');
  await proxy.pass();
  await untilBack();
  await earlier.fence(token);
  await earlier.insert('logs/1', batches, 'missing', token);
  assert.deepEqual(await rowsOf(batches), [300, 300]);
});

test('finds rows stored under another time of receipt', async () => {
  const [token] = newTokens();
  const [batch] = newBatches(5);
  await later.insert('logs/1', [batch!], 'all', token);
  const again = { ...batch!, receivedAtNanos: batch!.receivedAtNanos + 5n * 60_000_000_000n };
  const copies = { fromNanos: batch!.receivedAtNanos - 1n, untilNanos: again.receivedAtNanos };
  await later.insert('logs/1', [{ ...again, copies }], 'missing', token);
  assert.deepEqual(await rowsOf([batch!]), [5, 5]);
});
