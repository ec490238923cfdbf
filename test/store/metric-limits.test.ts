/** Visibility, limits and errors of metric reads. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { Layout, StampedBatch } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { type EngineStore, onCluster, openEngineStore } from './engine-store.ts';
import {
  bitsOf,
  metricBatch,
  type MetricFixture,
  newOwner,
  samplesPlan,
  seriesPlan,
} from './metric-fixture.ts';
import { dayNanos, insertMetrics, noon, noonMs } from './metric-store.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const insert = (...batches: StampedBatch[]) => insertMetrics(engine, batches);

suite('visibility', () => {
  test('excludes another account’s series of the same stream id', async () => {
    const owner = newOwner();
    const stranger = { ...newOwner(), streamId: owner.streamId };
    const metric: MetricFixture = {
      name: 'm',
      samples: [[noonMs, 1]],
      exemplars: [[noonMs, 1, { a: 'b' }]],
    };
    const metadata = [{ name: 'm', help: 'h' }];
    await insert(metricBatch([metric], { owner, receivedAtNanos: noon, metadata }));
    const { store } = engine;
    const metadataPlan = { ...seriesPlan(stranger), metric: undefined };
    assert.deepEqual(await store.samples(samplesPlan(stranger)), []);
    assert.deepEqual(await store.series(seriesPlan(stranger)), []);
    assert.deepEqual(await store.labelNames(seriesPlan(stranger)), []);
    assert.deepEqual(await store.labelValues(seriesPlan(stranger), '__name__'), []);
    assert.deepEqual(await store.metricMetadata(metadataPlan), []);
    assert.deepEqual(await store.exemplars(samplesPlan(stranger)), []);
  });

  test('finds nothing without streams', async () => {
    const owner = newOwner();
    await insert(
      metricBatch([{ name: 'm', samples: [[noonMs, 1]] }], { owner, receivedAtNanos: noon }),
    );
    assert.deepEqual(await engine.store.samples(samplesPlan(owner, [], { streams: [] })), []);
    assert.deepEqual(await engine.store.series(seriesPlan(owner, [], { streams: [] })), []);
  });

  test('hides data received before a stream’s limit, to the second', async () => {
    const owner = newOwner();
    for (const [i, seconds] of [-2n, -1n, 0n, 1n].entries()) {
      const receivedAtNanos = noon + seconds * 1_000_000_000n;
      const metric = { name: 'm', samples: [[noonMs + i, i]] } as const;
      await insert(metricBatch([metric], { owner, receivedAtNanos }));
    }
    const from = async (receivedFromNanos: bigint) => {
      const streams = [{ streamId: owner.streamId, receivedFromNanos }];
      const [series] = await engine.store.samples(samplesPlan(owner, [], { streams }));
      return [...(series?.values ?? [])];
    };
    assert.deepEqual(await from(noon), [2, 3].map(bitsOf));
    assert.deepEqual(await from(noon + 1n), [3].map(bitsOf), 'the current second must be hidden');
    assert.deepEqual(await from(noon + 1_000_000_001n), []);
  });

  test('labels written early on a day of receipt serve samples of the whole day', async () => {
    const owner = newOwner();
    const metric: MetricFixture = { name: 'm', samples: [[noonMs, 1]] };
    const midnight = noon - dayNanos / 2n;
    await insert(metricBatch([metric], { owner, receivedAtNanos: midnight }));
    const late: MetricFixture = { name: 'm', samples: [[noonMs + 1, 2]], isKnown: true };
    await insert(metricBatch([late], { owner, receivedAtNanos: midnight + dayNanos - 1n }));
    const streams = [{ streamId: owner.streamId, receivedFromNanos: noon }];
    const [series] = await engine.store.samples(samplesPlan(owner, [], { streams }));
    assert.deepEqual([...series!.values], [bitsOf(2)]);
  });

  test('finds a series on the days of its samples', async () => {
    const owner = newOwner();
    const metric: MetricFixture = { name: 'm', samples: [[noonMs, 1]] };
    await insert(metricBatch([metric], { owner, receivedAtNanos: noon }));
    const dayMs = 86_400_000;
    const found = async (fromMs: number, untilMs: number) => {
      const range = { fromMs: BigInt(fromMs), untilMs: BigInt(untilMs) };
      return (await engine.store.series(seriesPlan(owner, [], range))).length;
    };
    const midnightMs = noonMs - dayMs / 2;
    assert.equal(await found(midnightMs - dayMs, midnightMs - 1), 0);
    assert.equal(await found(midnightMs - dayMs, midnightMs), 1);
    assert.equal(await found(midnightMs + dayMs - 1, midnightMs + 3 * dayMs), 1);
    assert.equal(await found(midnightMs + dayMs, midnightMs + 3 * dayMs), 0);
  });
});

suite('limits and failures', () => {
  const owner = newOwner();
  before(async () => {
    const metrics = Array.from({ length: 5 }, (_, i) => ({
      name: `m${i}`,
      samples: [
        [noonMs, i],
        [noonMs + 1, i],
      ],
    })) satisfies readonly unknown[] as unknown as MetricFixture[];
    await insert(metricBatch(metrics, { owner, receivedAtNanos: noon }));
  });

  const refusal = async (attempt: Promise<unknown>): Promise<AppError> => {
    try {
      await attempt;
    } catch (error) {
      assert.ok(error instanceof AppError);
      assert.doesNotMatch(error.message, /SELECT|weir\.|DB::/);
      return error;
    }
    assert.fail('the read was answered');
  };

  test('fails with the name of the option over the limit of series or samples', async () => {
    const { store } = engine;
    assert.equal(
      (await store.samples(samplesPlan(owner, [], { maxSeries: 5, maxSamples: 10 }))).length,
      5,
    );
    const series = await refusal(store.samples(samplesPlan(owner, [], { maxSeries: 4 })));
    assert.match(series.message, /more than 4 series.*metrics\.maxReadSeries/);
    const samples = await refusal(store.samples(samplesPlan(owner, [], { maxSamples: 9 })));
    assert.match(samples.message, /more than 9 samples.*metrics\.maxReadSamples/);
    assert.equal(samples.code, 'execution');
  });

  test('cuts lists of series, names and values at their limit', async () => {
    const plan = seriesPlan(owner, [], { limit: 2 });
    assert.equal((await engine.store.series(plan)).length, 2);
    assert.deepEqual(await engine.store.labelValues(plan, '__name__'), ['m0', 'm1']);
    assert.deepEqual(await engine.store.labelNames(plan), ['__name__']);
  });

  for (const pattern of ['(', 'a)|(b', '[', 'a**', '\\', '(?<x', 'a{2000}', '(?=a)']) {
    test(`the pattern ${pattern} is malformed`, async () => {
      for (const type of ['matches', 'notMatches'] as const) {
        for (const name of ['__name__', 'absent']) {
          const selectors = [[{ name, type, value: pattern }]];
          const error = await refusal(engine.store.series(seriesPlan(owner, selectors)));
          assert.equal(error.code, 'malformed');
        }
      }
    });
  }

  test('an unreadable payload is a data error', async () => {
    const batch = metricBatch([{ name: 'm', samples: [[noonMs, 1]] }], {
      owner: newOwner(),
      receivedAtNanos: noon,
    });
    const cut = { ...batch, payload: batch.payload.subarray(0, batch.payload.length - 3) };
    await assert.rejects(insert(cut), (error: unknown) => {
      assert.ok(error instanceof StoreInsertError);
      assert.equal(error.failure, 'data');
      return true;
    });
  });

  test('an engine killed during an insert leaves nothing partial', {
    skip: onCluster,
  }, async () => {
    const own = newOwner();
    const samples = Array.from({ length: 100_000 }, (_, i) => [noonMs + i, i / 3] as const);
    const batch = metricBatch([{ name: 'm', samples }], { owner: own, receivedAtNanos: noon });
    const attempt = insert(batch).then(
      () => 'stored',
      (error: unknown) => (error as StoreInsertError).failure,
    );
    process.kill(engine.enginePid()!, 'SIGKILL');
    assert.match(await attempt, /unknown|unavailable/);
    await engine.store.fence(localToken);
    await engine.store.insert('metrics/1', [batch], 'missing', localToken);
    const [series] = await engine.store.samples(samplesPlan(own));
    assert.equal(series?.times.length, 100_000);
  });

  test('an unknown layout is a data error', async () => {
    await assert.rejects(engine.store.insert('metrics/9' as Layout, [], 'all', localToken), {
      failure: 'data',
      message: /metrics\/9/,
    });
  });
});
