/** Starts on a store server that is down, refuses, lacks something, or returns. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { StoreInsertError } from '../../src/store/port.ts';
import { stampedBatch } from '../store/log-row-fixture.ts';
import { everyLog } from '../store/read-oracle.ts';
import { until } from '../harness/until.ts';
import { openFaultProxy } from './fault-proxy.ts';
import { openStoreServer, type StoreServer } from './store-server.ts';

let server: StoreServer;
before(async () => {
  server = await openStoreServer();
});
after(() => server.close());

test('a wrong password, an unknown cluster and a missing server are named', async () => {
  await assert.rejects(server.open(undefined, { password: 'no' }), /cannot log in .+ as "weir"/);
  await assert.rejects(
    server.open(undefined, { cluster: 'c1' }),
    /cannot find cluster "c1": .*none/,
  );
  const proxy = await openFaultProxy({ port: server.port });
  await proxy.refuse();
  await assert.rejects(server.open(proxy.port), /cannot reach the store at http.+ECONNREFUSED/);
});

test('concurrent starts create the tables together', async () => {
  const database = 'at_once';
  const opened = await Promise.all([1, 2, 3].map(() => server.open(undefined, { database })));
  const [row] = await opened[0]!.connection.query<[number]>('housekeeping', {
    sql: `SELECT toUInt32(count()) FROM system.tables WHERE database = '${database}'`,
    params: {},
  });
  assert.deepEqual(row, [8]);
});

test('inserts and reads resume when the server is back', async () => {
  const proxy = await openFaultProxy({ port: server.port });
  const store = await server.open(proxy.port);
  const token = { shard: randomUUID(), epoch: 1n };
  const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };
  const batch = stampedBatch([{ body: 'a' }], {
    owner,
    receivedAtNanos: 1_790_000_000_000_000_000n,
  });
  await store.insert('logs/1', [batch], 'all', token);
  await proxy.refuse();
  const failed = await store.insert('logs/1', [batch], 'missing', token).catch((e: unknown) => e);
  assert.ok(failed instanceof StoreInsertError);
  assert.match(failed.failure, /unavailable|unknown/);
  assert.equal(await store.ping(), false);
  await proxy.pass();
  await until(() => store.ping(), { what: 'the store to be available again' });
  await store.fence(token);
  await store.insert('logs/1', [batch], 'missing', token);
  const filter = everyLog(owner.accountId, [owner.streamId]);
  const facets = await store.facets({ filter, fields: ['host'], topK: 1 });
  assert.equal(facets[0]?.total, 1);
  await proxy.close();
});
