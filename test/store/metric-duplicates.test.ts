/** Each sample reads once, and the last one written for a time wins. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { type EngineStore, openEngineStore } from './engine-store.ts';
import {
  bitsOf,
  metricBatch,
  type MetricFixture,
  newOwner,
  samplesPlan,
  seriesPlan,
} from './metric-fixture.ts';
import {
  dayNanos,
  insertMetrics,
  mergeSamples,
  noon,
  noonMs,
  readOnlySeries,
} from './metric-store.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const insert = (...batches: StampedBatch[]) => insertMetrics(engine, batches);
const optimize = () => mergeSamples(engine);

const onlySamples = (owner: BatchOwner) => readOnlySeries(engine, owner);

suite('duplicates', () => {
  test('read once, in any mode', async () => {
    const owner = newOwner();
    const samples = Array.from({ length: 100 }, (_, i) => [noonMs + i, i / 2] as const);
    const metric: MetricFixture = {
      name: 'm',
      samples,
      histograms: [[noonMs, Buffer.from([8, 1])]],
      exemplars: [[noonMs, 1, { trace_id: 'a' }]],
    };
    const metadata = [{ name: 'm', type: 'counter', help: 'h' }];
    const batch = metricBatch([metric], { owner, receivedAtNanos: noon, metadata });
    for (const mode of ['all', 'missing', 'missing'] as const) {
      await engine.store.insert('metrics/1', [batch, batch], mode, localToken);
      assert.equal((await onlySamples(owner)).length, 100);
      const [series] = await engine.store.samples(samplesPlan(owner));
      assert.equal(series?.histograms.length, 1);
      assert.equal((await engine.store.exemplars(samplesPlan(owner))).length, 1);
      assert.equal((await engine.store.series(seriesPlan(owner))).length, 1);
      const { streams } = seriesPlan(owner);
      const plan = { accountId: owner.accountId, streams, metric: undefined, limit: 10 };
      assert.deepEqual(await engine.store.metricMetadata(plan), [
        { name: 'm', type: 'counter', unit: '', help: 'h' },
      ]);
    }
  });

  /** Values written in sequence for one time; the last is expected. */
  const lastOf = async (owner: BatchOwner) => (await onlySamples(owner)).map(([, bits]) => bits);
  const one = (value: number): MetricFixture => ({ name: 'm', samples: [[noonMs, value]] });

  test('the last value wins within a batch', async () => {
    const owner = newOwner();
    const samples = [7, 3, 9, 1].map((value) => [noonMs, value] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    assert.deepEqual(await lastOf(owner), [bitsOf(1)]);
  });

  // Before the tests with many rows, which each merge would take.
  test('the last value wins across inserts of one second, before and after merges', async () => {
    const owner = newOwner();
    for (let round = 0; round < 12; round++) {
      await insert(metricBatch([one(100 - round)], { owner, receivedAtNanos: noon }));
      assert.deepEqual(await lastOf(owner), [bitsOf(100 - round)]);
      if (round % 4 !== 3) continue;
      await optimize();
      assert.deepEqual(await lastOf(owner), [bitsOf(100 - round)]);
    }
  });

  // Patterns that adaptive sorts are known to shuffle.
  for (const [series, times, rows] of [
    [1, 3, 60_000],
    [10, 10, 250_000],
    [1, 2, 300],
    [2, 100, 2_000],
    [1, 1, 100_000],
  ] as const) {
    test(`the last of ${rows} values wins, of ${series} series at ${times} times`, async () => {
      const owner = newOwner();
      const last = Array.from({ length: series }, () => new Map<number, number>());
      const metrics = Array.from({ length: rows }, (_, i): MetricFixture => {
        const time = noonMs + (Math.floor(i / series) % times);
        last[i % series]!.set(time, i);
        const labels = { series: String(i % series) };
        return i < series
          ? { name: 'm', labels, samples: [[time, i]] }
          : { name: 'm', labels, samples: [[time, i]], isKnown: true };
      });
      await insert(metricBatch(metrics, { owner, receivedAtNanos: noon }));
      const found = await engine.store.samples(samplesPlan(owner));
      const expected = last.map((of) => [...of].map(([time, i]) => [BigInt(time), bitsOf(i)]));
      assert.deepEqual(
        found.map(({ times: at, values }) => Array.from(at, (time, i) => [time, values[i]])),
        expected,
      );
    });
  }

  test('the last value wins within an insert of several blocks', async () => {
    const owner = newOwner();
    const filler = (from: number): MetricFixture => ({
      name: 'filler',
      samples: Array.from({ length: 40_000 }, (_, i) => [from + i, i] as const),
    });
    const batches = [7, 3, 9, 1].map((value, i) =>
      metricBatch([one(value), filler(i * 40_000)], { owner, receivedAtNanos: noon }),
    );
    await engine.store.insert('metrics/1', batches, 'all', localToken);
    const [, m] = await engine.store.samples(samplesPlan(owner));
    assert.deepEqual([...m!.values], [bitsOf(1)]);
  });

  test('the last received wins across days of receipt, in any order of inserts', async () => {
    const owner = newOwner();
    for (const [value, days] of [
      [1, 3n],
      [2, 1n],
      [3, 2n],
    ] as const) {
      const receivedAtNanos = noon + days * dayNanos;
      await insert(metricBatch([one(value)], { owner, receivedAtNanos }));
    }
    assert.deepEqual(await lastOf(owner), [bitsOf(1)]);
  });

  test('a series in two streams is one series, and the last received wins', async () => {
    const owner = newOwner();
    const other = { ...owner, streamId: newOwner().streamId };
    const samples = (values: readonly number[]) =>
      values.map((value, i) => [noonMs + i * 2, value] as const);
    const first = { name: 'm', samples: [...samples([1, 2, 3]), [noonMs + 1, 10]] } as const;
    await insert(metricBatch([first], { owner, receivedAtNanos: noon + 1_000_000_000n }));
    const second = { name: 'm', samples: samples([7, 8, 9, 10]) };
    await insert(metricBatch([second], { owner: other, receivedAtNanos: noon }));
    const streams = [owner, other].map(({ streamId }) => ({ streamId, receivedFromNanos: 0n }));
    for (const order of [streams, streams.toReversed()]) {
      const all = await engine.store.samples(samplesPlan(owner, [], { streams: order }));
      assert.equal(all.length, 1);
      assert.deepEqual(
        Array.from(all[0]!.times, (time, i) => [Number(time) - noonMs, all[0]!.values[i]]),
        [
          [0, 1],
          [1, 10],
          [2, 2],
          [4, 3],
          [6, 10],
        ].map(([at, value]) => [at, bitsOf(value!)]),
      );
    }
    const plan = seriesPlan(owner, [], { streams });
    assert.equal((await engine.store.series(plan)).length, 1);
  });
});
