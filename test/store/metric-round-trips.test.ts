/** Metrics read back bit for bit. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { createRandom } from '../harness/random.ts';
import { type EngineStore, localName, openEngineStore } from './engine-store.ts';
import {
  bitsOf,
  canonicalLabels,
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

function toDouble(bits: bigint): number {
  return new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
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

  test('decimals survive, beside values that only resemble one', async () => {
    const owner = newOwner();
    const random = createRandom(7);
    const decimals = Array.from({ length: 2000 }, (_, i) => {
      const digits = i % 9;
      const whole = Math.floor(random.next() * 10 ** (2 + (i % 11)));
      return (i % 2 === 0 ? 1 : -1) * Number(`${whole}e-${digits}`);
    });
    const near = decimals.flatMap((value) => [bitsOf(value) + 1n, bitsOf(value) - 1n]);
    const denormals = Array.from({ length: 12 }, (_, i) => BigInt(i));
    const all = [...decimals.map(bitsOf), ...near.filter((bits) => bits >= 0n), ...denormals];
    const samples = all.map((bits, i) => [noonMs + i, bits] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    const expected = samples.map(([time, bits]) => [BigInt(time), bits]);
    assert.deepEqual(await onlySamples(owner), expected);
    await optimize();
    assert.deepEqual(await onlySamples(owner), expected);
  });

  test('decimals of three digits are stored as integers', async () => {
    const owner = newOwner();
    const samples = [1.25, -0.001, 1_763_935_200.123, 0.000_001].map(
      (value, i) => [noonMs + i, value] as const,
    );
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    const rows = await engine.store.connection.query<[string, string]>('control', {
      sql: `SELECT toString(Integer), toString(Bits) FROM weir.samples
WHERE AccountId = {account:String} ORDER BY UnixMilli`,
      params: { account: owner.accountId },
    });
    assert.deepEqual(rows, [
      ['1250', '3'],
      ['-1', '3'],
      ['1763935200123', '3'],
      ['1', '6'],
    ]);
  });

  test('merged parts store no bits for integers', async () => {
    const owner = newOwner();
    const receivedAtNanos = noon - 9n * dayNanos;
    const series = Array.from({ length: 50 }, (_, number) => ({
      name: `series_${number}`,
      samples: Array.from({ length: 400 }, (_sample, i): [number, number] => [
        noonMs + i,
        number % 5 === 0 ? Math.sqrt(i + 2) : i,
      ]),
    }));
    for (let turn = 0; turn < 2; turn += 1) {
      await insert(metricBatch(series, { owner, receivedAtNanos }));
      await mergeSamples(engine);
    }
    const kinds = await engine.store.connection.query<[string]>('control', {
      sql: `SELECT serialization_kind FROM system.parts_columns
WHERE active AND table = '${localName(engine, 'samples')}' AND column = 'Bits'
  AND partition = '20260323'`,
      params: {},
    });
    assert.deepEqual(kinds, [['Sparse']]);
  });

  test('rows of the layout before decimals read the same', async () => {
    const owner = newOwner();
    const values = [...specialBits, bitsOf(1.25), bitsOf(0.1)].map((bits) => {
      const isWhole = bits !== bitsOf(-0) && Number.isSafeInteger(toDouble(bits));
      return { bits, integer: isWhole ? toDouble(bits) : 0, stored: isWhole ? 0n : bits };
    });
    const first = [noonMs, bitsOf(1)] as const;
    await insert(metricBatch([{ name: 'm', samples: [first] }], { owner, receivedAtNanos: noon }));
    const [series] = await engine.store.connection.query<[string]>('control', {
      sql: `SELECT toString(any(SeriesId)) FROM weir.samples WHERE AccountId = {account:String}`,
      params: { account: owner.accountId },
    });
    const rows = values.map(({ integer, stored }, i) => {
      const { accountId, streamId } = owner;
      const key = `'${accountId}', '${streamId}', toUInt128('${series![0]}'), ${noonMs + 1 + i}`;
      return `(${key}, ${integer}, ${stored}, toDateTime(${noonMs / 1000}, 'UTC'))`;
    });
    await engine.store.connection.execute('housekeeping', {
      sql: `INSERT INTO weir.${localName(engine, 'samples')}
(AccountId, StreamId, SeriesId, UnixMilli, Integer, Bits, ReceivedAt) VALUES ${rows.join(', ')}`,
      params: {},
    });
    const expected = values.map(({ bits }, i) => [BigInt(noonMs + 1 + i), bits]);
    assert.deepEqual((await onlySamples(owner)).slice(1), expected);
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
    assert.deepEqual([...within[0]!.times], [0n, 1n], 'the range includes both ends');
    const one = await engine.store.samples(
      samplesPlan(owner, [], { fromMs: times[0]!, untilMs: times[0]! }),
    );
    assert.deepEqual([...one[0]!.times], [times[0]]);
  });

  test('wrong clocks create no partitions', async () => {
    const owner = newOwner();
    const samples = Array.from({ length: 200 }, (_, i) => [i * 86_400_000 * 50, i] as const);
    await insert(metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos: noon }));
    assert.equal((await onlySamples(owner)).length, 200);
  });
});

test('labels of all kinds read back in canonical order', async () => {
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

suite('histograms, exemplars and metadata', () => {
  test('native histograms read back byte for byte, with or without samples', async () => {
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

  test('exemplars of one time stay separate, and those out of range are excluded', async () => {
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

  test('returns the last metadata, sorted, limited, of one metric or all', async () => {
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
