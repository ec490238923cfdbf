/** Reads of large accounts within the limits of a ClickHouse server on a request. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { localToken } from '../store/local-token.ts';
import { stampedBatch } from '../store/log-row-fixture.ts';
import { metricBatch, newOwner, samplesPlan } from '../store/metric-fixture.ts';
import { openServerLimits, type ServerLimits } from './server-limits.ts';
import { openStoreServer, type StoreServer } from './store-server.ts';

let server: StoreServer;
let limits: ServerLimits;
let store: ClickHouseStore;
before(async () => {
  server = await openStoreServer();
  limits = await openServerLimits(server.port);
  store = await server.open(limits.port);
});
after(async () => {
  await server.close();
  await limits.close();
});

const noonMs = Date.parse('2026-04-01T12:00:00Z');
const noon = BigInt(noonMs) * 1_000_000n;

test('reads 25,000 series of an account with 6,000 streams', async () => {
  const owner = newOwner();
  const metrics = Array.from({ length: 25_000 }, (_, i) => ({
    name: 'up',
    labels: { instance: `host-${i}` },
    samples: [[noonMs, i]] as const,
  }));
  const batch = metricBatch(metrics, { owner, receivedAtNanos: noon });
  await store.insert('metrics/1', [batch], 'all', localToken);
  const streams = manyStreams(owner.streamId);
  const found = await store.samples(samplesPlan(owner, [], { streams, maxSeries: 30_000 }));
  assert.equal(found.length, metrics.length);
  assert.equal(found.filter(({ times }) => times.length === 1).length, metrics.length);
});

test('lists and counts logs of an account with 30,000 streams', async () => {
  const owner = newOwner();
  const batch = stampedBatch([{ body: 'a' }], { owner, receivedAtNanos: noon });
  await store.insert('logs/1', [batch], 'all', localToken);
  const filter = {
    accountId: owner.accountId,
    streams: manyStreams(owner.streamId, 30_000),
    fromNanos: noon,
    untilNanos: noon + 1_000_000_000n,
    equal: new Map(),
    labels: [],
    minSeverity: undefined,
    search: [],
  };
  const logs = await store.list({
    filter,
    limit: 10,
    direction: 'older',
    position: undefined,
    untilWatermarkNanos: undefined,
  });
  assert.deepEqual(
    logs.map(({ message }) => message),
    ['a'],
  );
  const range = { startMs: noonMs, endMs: noonMs + 1000, buckets: 1 };
  const { counts } = await store.histogram({ filter, ...range, groupBy: undefined, topK: 1 });
  assert.deepEqual(counts, [1]);
});

function manyStreams(streamId: string, count = 6_000) {
  const ids = [...Array.from({ length: count - 1 }, () => randomUUID()), streamId];
  return ids.map((id) => ({ streamId: id, receivedFromNanos: 0n }));
}
