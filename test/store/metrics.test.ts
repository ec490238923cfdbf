/** What was written of metrics comes back bit by bit, each sample once, whatever was sent twice. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { BatchOwner, Layout } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { type EngineStore, openEngineStore } from './engine-store.ts';
import {
  bitsOf,
  canonicalLabels,
  metricBatch,
  type MetricFixture,
  newOwner,
  samplesPlan,
  seriesPlan,
} from './metric-fixture.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const dayNanos = 86_400_000_000_000n;
const noonMs = Date.parse('2026-04-01T12:00:00Z');
const noon = BigInt(noonMs) * 1_000_000n;

const insert = (...batches: ReturnType<typeof metricBatch>[]) =>
  engine.store.insert('metrics/1', batches, 'all');
const optimize = () =>
  engine.store.connection.execute('housekeeping', {
    sql: 'OPTIMIZE TABLE weir.samples FINAL',
    params: {},
  });

/** [time, bits] of the one series there is. */
async function onlySamples(owner: BatchOwner): Promise<[bigint, bigint][]> {
  const [series, ...others] = await engine.store.samples(samplesPlan(owner));
  assert.equal(others.length, 0);
  return Array.from(series!.times, (time, i) => [time, series!.values[i]!]);
}

const specialBits = [
  0x7ff0_0000_0000_0002n, // the stale marker
  0x7ff8_0000_0000_0001n, // "not a number"
  0x7ff0_0000_0000_0003n,
  0xfff8_0000_0000_0000n,
  0x7fff_ffff_ffff_ffffn,
  bitsOf(Infinity),
  bitsOf(-Infinity),
  bitsOf(0),
  bitsOf(-0),
  bitsOf(5e-324),
  bitsOf(-5e-324),
  bitsOf(Number.MAX_VALUE),
  bitsOf(2 ** 53),
  bitsOf(-(2 ** 53)),
  bitsOf(2 ** 53 + 2),
  bitsOf(2 ** 63),
  bitsOf(-(2 ** 63)),
  bitsOf(1e300),
  bitsOf(0.1),
  bitsOf(-1),
  bitsOf(1),
];

suite('values and times', () => {
  test('any bits survive insert, merge and read', async () => {
    const owner = newOwner();
    const samples = specialBits.map((bits, i) => [noonMs + i, bits] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    const expected = samples.map(([time, bits]) => [BigInt(time), bits]);
    assert.deepEqual(await onlySamples(owner), expected);
    await optimize();
    assert.deepEqual(await onlySamples(owner), expected);
  });

  test('any time of 64 bits', async () => {
    const owner = newOwner();
    const times = [-(1n << 63n), -1n, 0n, 1n, BigInt(noonMs), 1n << 53n, (1n << 63n) - 1n];
    const samples = times.map((time, i) => [time, i] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    assert.deepEqual(
      await onlySamples(owner),
      times.map((time, i) => [time, bitsOf(i)]),
    );
    const within = await engine.store.samples(samplesPlan(owner, [], { fromMs: 0n, untilMs: 1n }));
    assert.deepEqual([...within[0]!.times], [0n, 1n], 'both ends belong to the range');
    const one = await engine.store.samples(
      samplesPlan(owner, [], { fromMs: times[0]!, untilMs: times[0]! }),
    );
    assert.deepEqual([...one[0]!.times], [times[0]]);
  });

  test('a wrong clock makes no partitions', async () => {
    const owner = newOwner();
    const samples = Array.from({ length: 200 }, (_, i) => [i * 86_400_000 * 50, i] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    assert.equal((await onlySamples(owner)).length, 200);
  });
});

test('labels of all kinds come back in canonical order', async () => {
  const owner = newOwner();
  const labels = {
    Upper: '1',
    a: 'tab\t "quoted" \\ nul \0 new\nline 🙂',
    '1': 'digits',
    ['__proto__']: 'data',
    'with.dot': "it's",
    ö: 'ä',
    '\u{10000}': 'beyond',
    '\uffff': 'last of the plane',
  };
  const metric: MetricFixture = { name: 'my.metric', labels, samples: [[noonMs, 1]] };
  await insert(metricBatch([metric], { owner, receivedAtNanos: noon }));
  const [series] = await engine.store.samples(samplesPlan(owner));
  assert.deepEqual(series?.labels, canonicalLabels(metric));
  assert.deepEqual(await engine.store.series(seriesPlan(owner)), [canonicalLabels(metric)]);
  assert.deepEqual(
    await engine.store.labelNames(seriesPlan(owner)),
    canonicalLabels(metric).map(([name]) => name),
  );
  assert.deepEqual(await engine.store.labelValues(seriesPlan(owner), '__name__'), ['my.metric']);
  assert.deepEqual(await engine.store.labelValues(seriesPlan(owner), 'a'), [labels.a]);
  assert.deepEqual(await engine.store.labelValues(seriesPlan(owner), 'absent'), []);
});

suite('what is sent twice', () => {
  test('reads once, in any mode', async () => {
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
      await engine.store.insert('metrics/1', [batch, batch], mode);
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

  /** Values written one after the other at one time; the last is meant. */
  const lastOf = async (owner: BatchOwner) => (await onlySamples(owner)).map(([, bits]) => bits);
  const one = (value: number): MetricFixture => ({ name: 'm', samples: [[noonMs, value]] });

  test('the last value wins within a batch', async () => {
    const owner = newOwner();
    const samples = [7, 3, 9, 1].map((value) => [noonMs, value] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    assert.deepEqual(await lastOf(owner), [bitsOf(1)]);
  });

  test('the last value wins within an insert, over many blocks', async () => {
    const owner = newOwner();
    const filler = (from: number): MetricFixture => ({
      name: 'filler',
      samples: Array.from({ length: 40_000 }, (_, i) => [from + i, i] as const),
    });
    const batches = [7, 3, 9, 1].map((value, i) =>
      metricBatch([one(value), filler(i * 40_000)], { owner, receivedAtNanos: noon }),
    );
    await engine.store.insert('metrics/1', batches, 'all');
    const [, m] = await engine.store.samples(samplesPlan(owner));
    assert.deepEqual([...m!.values], [bitsOf(1)]);
  });

  test('the last value wins across inserts of one second, before and after merges', async () => {
    const owner = newOwner();
    for (let round = 0; round < 12; round++) {
      await insert(metricBatch([one(100 - round)], { owner, receivedAtNanos: noon }));
      assert.deepEqual(await lastOf(owner), [bitsOf(100 - round)]);
      if (round % 4 === 3) await optimize();
      assert.deepEqual(await lastOf(owner), [bitsOf(100 - round)]);
    }
  });

  test('the last received wins across days of receipt, whatever the order of inserts', async () => {
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

  test('a series of two streams is one, and the last received of both wins', async () => {
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

suite('whose and since when', () => {
  test('another account’s series of the same stream id are not seen', async () => {
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

  test('without streams nothing is found', async () => {
    const owner = newOwner();
    await insert(
      metricBatch([{ name: 'm', samples: [[noonMs, 1]] }], { owner, receivedAtNanos: noon }),
    );
    assert.deepEqual(await engine.store.samples(samplesPlan(owner, [], { streams: [] })), []);
    assert.deepEqual(await engine.store.series(seriesPlan(owner, [], { streams: [] })), []);
  });

  test('what was received before a stream’s limit is hidden, to the second', async () => {
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
    assert.deepEqual(await from(noon + 1n), [3].map(bitsOf), 'a second that has begun is hidden');
    assert.deepEqual(await from(noon + 1_000_000_001n), []);
  });

  test('labels written early on a day of receipt serve samples of that whole day', async () => {
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

  test('a series is found on the days of its samples', async () => {
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

suite('histograms, exemplars and metadata', () => {
  test('native histograms come back byte by byte, beside samples or alone', async () => {
    const owner = newOwner();
    const message = Buffer.from(Array.from({ length: 300 }, (_, i) => i & 255));
    const metrics: MetricFixture[] = [
      {
        name: 'alone',
        histograms: [
          [noonMs + 1, Buffer.alloc(0)],
          [noonMs, message],
        ],
      },
      { name: 'both', samples: [[noonMs, 1]], histograms: [[noonMs, message]] },
    ];
    await insert(metricBatch(metrics, { owner, receivedAtNanos: noon }));
    const [alone, both] = await engine.store.samples(samplesPlan(owner));
    assert.deepEqual(
      alone!.histograms.map((one) => [Number(one.timeMs) - noonMs, Buffer.from(one.message)]),
      [
        [0, message],
        [1, Buffer.alloc(0)],
      ],
    );
    assert.equal(alone!.times.length, 0);
    assert.equal(both!.histograms.length, 1);
    assert.deepEqual([...both!.values], [bitsOf(1)]);
  });

  test('exemplars of one time stay apart, and those out of range away', async () => {
    const owner = newOwner();
    const exemplars = [
      [noonMs + 1, 0.5, { trace_id: 'b', span_id: 'c' }],
      [noonMs, 1.5, { trace_id: 'a' }],
      [noonMs, 2.5, {}],
      [noonMs + 9, NaN, { far: 'away' }],
    ] as const;
    await insert(metricBatch([{ name: 'm', exemplars }], { owner, receivedAtNanos: noon }));
    const range = { fromMs: BigInt(noonMs), untilMs: BigInt(noonMs + 8) };
    const found = await engine.store.exemplars(samplesPlan(owner, [], range));
    assert.deepEqual(
      found.map(({ timeMs }) => Number(timeMs) - noonMs),
      [0, 0, 1],
    );
    assert.deepEqual(new Set(found.map(({ value }) => value)), new Set([0.5, 1.5, 2.5]));
    assert.deepEqual(found[2], {
      seriesLabels: [['__name__', 'm']],
      labels: [
        ['trace_id', 'b'],
        ['span_id', 'c'],
      ],
      timeMs: BigInt(noonMs + 1),
      value: 0.5,
    });
  });

  test('metadata are the last that was sent, sorted, limited, of one metric or all', async () => {
    const owner = newOwner();
    for (const [i, help] of ['old', 'new'].entries()) {
      const metadata = [
        { name: 'b', type: 'gauge', unit: 'bytes', help },
        { name: 'a', help: `${help} a` },
      ];
      const receivedAtNanos = noon + BigInt(i) * dayNanos;
      await insert(metricBatch([], { owner, receivedAtNanos, metadata }));
    }
    const { accountId, streams } = seriesPlan(owner);
    const read = (metric: string | undefined, limit = 10) =>
      engine.store.metricMetadata({ accountId, streams, metric, limit });
    const a = { name: 'a', type: 'unknown', unit: '', help: 'new a' };
    const b = { name: 'b', type: 'gauge', unit: 'bytes', help: 'new' };
    assert.deepEqual(await read(undefined), [a, b]);
    assert.deepEqual(await read('b'), [b]);
    assert.deepEqual(await read(undefined, 1), [a]);
    assert.deepEqual(await read('c'), []);
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

  test('more series or samples than asked for are an error that names its option', async () => {
    const { store } = engine;
    assert.equal(
      (await store.samples(samplesPlan(owner, [], { maxSeries: 5, maxSamples: 10 }))).length,
      5,
    );
    const series = await refusal(store.samples(samplesPlan(owner, [], { maxSeries: 4 })));
    assert.match(series.message, /more than 4 series.*metrics\.maxReadSeries/);
    const samples = await refusal(store.samples(samplesPlan(owner, [], { maxSamples: 9 })));
    assert.match(samples.message, /more than 9 samples.*metrics\.maxReadSamples/);
    assert.equal(samples.code, 'unavailable');
  });

  test('lists of series, names and values are cut off at their limit', async () => {
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

  test('a payload that cannot be read is data', async () => {
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

  test('an unknown layout is a bug', () => {
    assert.throws(() => engine.store.insert('metrics/9' as Layout, [], 'all'), /metrics\/9/);
  });
});
