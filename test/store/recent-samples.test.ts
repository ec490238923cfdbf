/** Recent samples in memory are those of the store, also when it hides more or fewer of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { ReadableStream } from '../../src/model/plan.ts';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { createHousekeeping, housekeepingDefaults } from '../../src/store/housekeeping.ts';
import { until } from '../harness/until.ts';
import { type EngineStore, onCluster, openEngineStore, truncateTables } from './engine-store.ts';
import { metricBatch, newOwner, samplesPlan } from './metric-fixture.ts';
import { newStream } from './stream-fixture.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = Date.now();

let engine: EngineStore;
let store: ClickHouseStore;
before(async () => {
  engine = await openEngineStore();
  store = await engine.reopen({ maxSamplesInMemory: 100_000 });
});
after(async () => {
  await store.close();
  await engine.close();
});

/** A stream with samples of these ages, received when they were taken. */
async function fill(ages: readonly number[]) {
  const owner = newOwner();
  for (const age of ages) {
    const timeMs = nowMs - age;
    const metrics = [{ name: 'm', samples: [[timeMs, age] as const] }];
    const receivedAtNanos = BigInt(timeMs) * 1_000_000n;
    const batch = metricBatch(metrics, { owner, receivedAtNanos });
    await store.insert('metrics/1', [batch], 'all', localToken);
  }
  return owner;
}

function planOf(
  owner: ReturnType<typeof newOwner>,
  fromMs: number,
  hidden: Partial<ReadableStream>,
) {
  const streams = [{ streamId: owner.streamId, receivedFromNanos: 0n, ...hidden }];
  return samplesPlan(owner, [], { streams, fromMs: BigInt(fromMs), untilMs: BigInt(nowMs) });
}

type Plan = ReturnType<typeof planOf>;

async function agesOf(plan: Plan): Promise<number[]> {
  const found = await store.sampleColumns(plan);
  return found.flatMap(({ values, from, to }) => Array.from(values.subarray(from, to)));
}

/** Loads them into memory. */
async function load(plan: Plan): Promise<void> {
  const isInMemory = async () => {
    await store.sampleColumns(plan);
    return Array.isArray(store.sampleColumns(plan));
  };
  await until(isInMemory, { what: 'samples in memory' });
}

const yesterdayMs = (Math.floor(nowMs / dayMs) - 1) * dayMs;

test('a dropped day is not in memory either', { skip: onCluster }, async () => {
  const age = nowMs - yesterdayMs - hourMs;
  const owner = await fill([age, 1000]);
  const plan = planOf(owner, yesterdayMs, {});
  await load(plan);
  assert.deepEqual(await agesOf(plan), [age, 1000]);
  const only = newStream(owner.accountId, 100);
  const parts = {
    store,
    streams: async () => [only],
    deletedStreams: async () => [],
    now: () => nowMs,
  };
  await createHousekeeping(parts, { ...housekeepingDefaults, maxDiskBytes: 1 }).dropDaysOverCap();
  assert.deepEqual(await agesOf(plan), [1000]);
});

test('retention hides samples in memory of a stream whose data was deleted before', {
  skip: onCluster,
}, async () => {
  await truncateTables(engine);
  const owner = await fill([13 * hourMs, 1000]);
  const deletedUntilNanos = BigInt(nowMs - 100 * hourMs) * 1_000_000n;
  const fromMs = nowMs - 14 * hourMs;
  const keptFrom = (age: number) => BigInt(nowMs - age) * 1_000_000n;
  const earlier = { deletedUntilNanos, receivedFromNanos: keptFrom(24 * hourMs) };
  await load(planOf(owner, fromMs, earlier));
  const later = { deletedUntilNanos, receivedFromNanos: keptFrom(12 * hourMs) };
  assert.deepEqual(await agesOf(planOf(owner, fromMs, later)), [1000]);
});

test('longer retention shows samples that were hidden when others were loaded', {
  skip: onCluster,
}, async () => {
  await truncateTables(engine);
  const owner = await fill([5 * hourMs, 1000]);
  const keptFrom = (age: number) => BigInt(nowMs - age) * 1_000_000n;
  await load(planOf(owner, nowMs - 3 * hourMs, { receivedFromNanos: keptFrom(4 * hourMs) }));
  const longer = { receivedFromNanos: keptFrom(100 * hourMs) };
  assert.deepEqual(await agesOf(planOf(owner, nowMs - 5.5 * hourMs, longer)), [5 * hourMs, 1000]);
});
