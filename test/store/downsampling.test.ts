/** Downsampling: of old samples the last of each interval stays. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { Stream } from '../../src/model/account.ts';
import { createDownsampling } from '../../src/store/downsampling/downsampling.ts';
import { createHousekeeping, housekeepingDefaults } from '../../src/store/housekeeping.ts';
import { compileDownsample, type DownsampledDay } from '../../src/store/downsampling/statements.ts';
import {
  allMutated,
  type EngineStore,
  onCluster,
  openEngineStore,
  truncateTables,
} from './engine-store.ts';
import { localToken } from './local-token.ts';
import { type MetricFixture, metricBatch, samplesPlan } from './metric-fixture.ts';
import { newStream } from './stream-fixture.ts';

const msPerDay = 86_400_000;
const minute = 60_000;
const now = Date.parse('2026-05-20T12:00:00Z');
const accountId = randomUUID();
const { signal } = new AbortController();
const staleBits = 0x7ff0_0000_0000_0002n;

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
beforeEach(() => truncateTables(engine));
after(() => engine.close());

const stream = (downsampling: string | null) => newStream(accountId, 400, downsampling);

/** @param daysAgo of receipt */
async function insert(of: Stream, daysAgo: number, metrics: readonly MetricFixture[]) {
  const owner = { ...of, receiverId: 'rcv_test' };
  const receivedAtNanos = BigInt(now - daysAgo * msPerDay) * 1_000_000n;
  const batch = metricBatch(metrics, { owner, receivedAtNanos });
  await engine.store.insert('metrics/1', [batch], 'all', localToken);
}

function openDownsampling(streams: readonly Stream[]) {
  return createDownsampling({
    store: engine.store,
    streams: async () => streams,
    deletedStreams: async () => [],
    now: () => now,
  });
}

async function runAll(of: ReturnType<typeof openDownsampling>): Promise<void> {
  await of.plan();
  for (let day = 0; day < 8; day++) {
    await of.rewriteNextDay(signal);
    await allMutated(engine);
  }
}

/** Samples of each series from a time on: ms since then, and value. */
async function samplesOf(of: Stream, fromMs: number) {
  const plan = samplesPlan({ ...of, receiverId: 'rcv_test' }, [], {
    fromMs: BigInt(fromMs - 120 * minute),
    untilMs: BigInt(fromMs + 120 * minute),
  });
  const series = await engine.store.samples(plan);
  return Object.fromEntries(
    series.map(({ labels, times, values, histograms }) => [
      labels[0]![1],
      [
        ...Array.from(times, (time, i) => [Number(time) - fromMs, floatOf(values[i]!)]),
        ...histograms.map(({ timeMs, message }) => [Number(timeMs) - fromMs, message.length]),
      ],
    ]),
  );
}

function floatOf(bits: bigint): number | 'stale' {
  if (bits === staleBits) return 'stale';
  return new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
}

async function mutations(): Promise<number> {
  const sql = `SELECT toString(count()) FROM system.mutations WHERE database = 'weir'`;
  const [row] = await engine.store.connection.query<[string]>('housekeeping', { sql, params: {} });
  return Number(row?.[0]);
}

/** A counter every 15 s for 20 minutes, which starts again within an interval. */
function counter(fromMs: number): MetricFixture {
  const samples = Array.from({ length: 80 }, (_, i) => {
    return [fromMs + i * 15_000, (i < 50 ? i : i - 50) + 0.5] as const;
  });
  return { name: 'counter', samples };
}

test('keeps the last sample of each interval by the age of its day of receipt', async () => {
  const of = stream('2d:5m,10d:1h');
  const at = (days: number) => now - days * msPerDay;
  for (const days of [0, 1, 2.4, 3, 11]) await insert(of, days, [counter(at(days))]);
  await runAll(openDownsampling([of]));
  // An interval ends with the sample at a multiple of five minutes: 0 is one.
  const everyFiveMinutes = [
    [0, 0.5],
    [5 * minute, 20.5],
    [10 * minute, 40.5],
    [15 * minute, 10.5],
    [20 * minute - 15_000, 29.5],
  ];
  assert.deepEqual((await samplesOf(of, at(3)))['counter'], everyFiveMinutes);
  assert.deepEqual((await samplesOf(of, at(11)))['counter'], [
    [0, 0.5],
    [20 * minute - 15_000, 29.5],
  ]);
  for (const days of [0, 1, 2.4]) {
    assert.equal((await samplesOf(of, at(days)))['counter']!.length, 80, `${days} days`);
  }
});

test('keeps a stale marker beside the last value, and histograms alike', async () => {
  const of = stream('2d:1h');
  const from = now - 5 * msPerDay + minute;
  const value = Buffer.from([0x08, 1]);
  const stale = Buffer.from('19020000000000f07f', 'hex');
  await insert(of, 5, [
    {
      name: 'short',
      samples: [
        [from, 1],
        [from + 1, 2],
        [from + 2, staleBits],
      ],
    },
    {
      name: 'back',
      samples: [
        [from, staleBits],
        [from + 1, 1],
        [from + 2, Number.NaN],
      ],
    },
    { name: 'one', samples: [[from, 7]] },
    {
      name: 'native',
      histograms: [
        [from, value],
        [from + 1, value],
        [from + 2, stale],
      ],
    },
  ]);
  await runAll(openDownsampling([of]));
  assert.deepEqual(await samplesOf(of, from), {
    short: [
      [1, 2],
      [2, 'stale'],
    ],
    back: [
      [0, 'stale'],
      [2, Number.NaN],
    ],
    one: [[0, 7]],
    native: [
      [1, value.length],
      [2, stale.length],
    ],
  });
});

test('is a part of housekeeping, and touches no other stream', async () => {
  const [of, other, young] = [stream('2d:1h'), stream(null), stream('6d:1h')];
  const from = now - 5 * msPerDay;
  const all = [of, other, young];
  for (const each of all) await insert(each, 5, [counter(from)]);
  const parts = {
    store: engine.store,
    streams: async () => all,
    deletedStreams: async () => [],
    now: () => now,
  };
  await createHousekeeping(parts, housekeepingDefaults).runRound(new AbortController().signal);
  await allMutated(engine);
  assert.equal((await samplesOf(of, from))['counter']!.length, 2);
  assert.equal((await samplesOf(other, from))['counter']!.length, 80);
  assert.equal((await samplesOf(young, from))['counter']!.length, 80);
});

test('rewrites a day once, and again when it has received more', async () => {
  const of = stream('2d:1h');
  const from = now - 5 * msPerDay;
  await insert(of, 5, [counter(from)]);
  const keeper = openDownsampling([of]);
  await runAll(keeper);
  const rewritten = await mutations();
  await runAll(keeper);
  await runAll(openDownsampling([of]));
  assert.equal(await mutations(), rewritten);

  await insert(of, 5, [
    {
      name: 'late',
      samples: [
        [from + 1, 1],
        [from + 2, 2],
      ],
      isKnown: true,
    },
  ]);
  await insert(of, 5, [{ name: 'counter', samples: [[from + 30 * minute, 9]], isKnown: true }]);
  await runAll(keeper);
  assert.deepEqual((await samplesOf(of, from))['counter'], [
    [0, 0.5],
    [30 * minute, 9],
  ]);
  assert.ok((await mutations()) > rewritten);
});

test('rewrites a day once for all streams of an interval', async () => {
  const [one, of, finer] = [stream('2d:1h'), stream('4d:1h'), stream('2d:5m')];
  const other = { ...stream('2d:1h'), accountId: randomUUID() };
  const all = [one, of, other, finer, stream('2d:1h')];
  const from = now - 5 * msPerDay;
  const earlier = await mutations();
  for (const each of all) await insert(each, 5, [counter(from)]);
  await runAll(openDownsampling(all));
  assert.equal((await mutations()) - earlier, 2);
  for (const each of [one, of, other]) {
    assert.equal((await samplesOf(each, from))['counter']!.length, 2);
  }
  assert.equal((await samplesOf(finer, from))['counter']!.length, 5);
});

test('keeps replacements of a sample, whichever row is merged first', async () => {
  const of = stream('2d:1h');
  const from = now - 5 * msPerDay;
  await insert(of, 5, [
    {
      name: 'm',
      samples: [
        [from + 1, 1],
        [from + 2, 2],
      ],
    },
  ]);
  await insert(of, 4.9999, [{ name: 'm', samples: [[from + 2, 3]], isKnown: true }]);
  await runAll(openDownsampling([of]));
  assert.deepEqual((await samplesOf(of, from))['m'], [[2, 3]]);
});

test('does the same in shares of the series', async () => {
  const of = stream('2d:1h');
  const from = now - 5 * msPerDay;
  const metrics = Array.from({ length: 20 }, (_, i) => ({ ...counter(from), name: `m${i}` }));
  await insert(of, 5, metrics);
  const names = { table: 'samples', day: '20260515' } as const;
  const day: DownsampledDay = { ...names, intervalMs: 60 * minute, streams: [of] };
  const lengths = async () =>
    Object.values(await samplesOf(of, from)).map((samples) => samples.length);
  const run = async (index: number) => {
    const { connection, placement } = engine.store;
    const share = { index, count: 2 };
    await connection.execute('housekeeping', compileDownsample(placement, day, share));
    await allMutated(engine);
  };
  await run(0);
  const half = new Set(await lengths());
  assert.deepEqual(half, new Set([2, 80]));
  await run(1);
  assert.deepEqual(new Set(await lengths()), new Set([2]));
});

test('finishes a rewriting after a crash of the engine', { skip: onCluster }, async () => {
  const of = stream('2d:1h');
  const from = now - 5 * msPerDay;
  await insert(of, 5, [counter(from)]);
  const { connection, placement } = engine.store;
  const execute = (sql: string, params = {}) => connection.execute('housekeeping', { sql, params });
  await execute('SYSTEM STOP MERGES weir.samples');
  const names = { table: 'samples', day: '20260515' } as const;
  const day: DownsampledDay = { ...names, intervalMs: 60 * minute, streams: [of] };
  const { sql, params } = compileDownsample(placement, day, { index: 0, count: 1 });
  await execute(sql.replace('mutations_sync = 1', 'mutations_sync = 0'), params);
  assert.equal((await samplesOf(of, from))['counter']!.length, 80);
  await engine.restart();
  await allMutated(engine);
  assert.equal((await samplesOf(of, from))['counter']!.length, 2);
});
