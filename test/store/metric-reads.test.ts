/**
 * Samples, series, names and values against a plain array, for any matchers, ranges and streams,
 * and any distribution over parts.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { localToken } from './local-token.ts';
import type { LabelMatcher, SamplesPlan } from '../../src/model/metric-plan.ts';
import { runs } from '../harness/runs.ts';
import { type EngineStore, localName, openEngineStore } from './engine-store.ts';
import {
  bitsOf,
  canonicalLabels,
  metricBatch,
  type MetricFixture,
  samplesPlan,
} from './metric-fixture.ts';
import { expectedSamples, expectedSeries, type StoredSample } from './metric-oracle.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const hourMs = 3_600_000;
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;

const accountId = randomUUID();
const streamIds = [randomUUID(), randomUUID()] as const;

const values = ['', 'a', 'b', 'ab', 'abc', 'aac', 'x.y', 'xzy', 'ä', 'äö', 'A', '12', 'a\nc', '🙂'];
const patterns = [
  '',
  ...'.* .+ a.* .*c a|b (a|b)c? [a-c]+ x\\.y a.c (?:) ä+ a{2}c .{1} a| |a'.split(' '),
  ...'(a)(b) ^a a$ ^ab$ \\d+ [^a] (ab|aa). A|Ä (?:a|ab)(?:c|bc)? abc|xzy|12'.split(' '),
  ...'a\\nc .*b.* \\w+ (a|b|ab) a?b?c? .? m[12] m1|m3 m. m1'.split(' '),
];
const pick = <T>(...some: T[]) => fc.constantFrom(...some);

/** Colliding times, over two days. */
const timeArbitrary = fc.integer({ min: 0, max: 24 }).map((i) => startMs + i * 2 * hourMs);
const metricArbitrary: fc.Arbitrary<MetricFixture> = fc.record({
  name: pick('m1', 'm2', 'm3'),
  labels: fc.dictionary(pick('a', 'Z', 'ö'), fc.constantFrom(...values), { maxKeys: 2 }),
  samples: fc.array(
    fc.tuple(timeArbitrary, fc.oneof(fc.integer(), fc.double(), fc.bigInt(0n, 2n ** 64n - 1n))),
    { minLength: 1, maxLength: 12 },
  ),
});

let engine: EngineStore;
const stored: StoredSample[] = [];

before(async () => {
  engine = await openEngineStore();
  const [contents] = fc.sample(
    fc.array(fc.array(metricArbitrary, { minLength: 1, maxLength: 30 }), {
      minLength: 48,
      maxLength: 48,
    }),
    { numRuns: 1, seed: 20_260_301 },
  );
  const batches = contents!.map((metrics, i) => {
    // The two streams never receive in the same second; batches of one may.
    const receivedMs = startMs + Math.floor(i / 4) * 5 * hourMs + (i % 2) * 1_000 + i;
    const owner = { accountId, streamId: streamIds[i % 2]!, receiverId: 'rcv_test' };
    const receivedAtNanos = nanos(receivedMs);
    for (const metric of metrics) {
      for (const [time, value] of metric.samples ?? []) {
        const bits = typeof value === 'bigint' ? value : bitsOf(value);
        const labels = canonicalLabels(metric);
        const { streamId } = owner;
        stored.push({ accountId, streamId, receivedAtNanos, labels, timeMs: Number(time), bits });
      }
    }
    return metricBatch(metrics, {
      owner,
      receivedAtNanos,
      id: { writer: 5n, sequence: BigInt(i) },
    });
  });
  for (let at = 0; at < batches.length; at += 3) {
    const some = batches.slice(at, at + 3);
    await engine.store.insert('metrics/1', some, 'all', localToken);
    if (at % 2 === 0) await engine.store.insert('metrics/1', some, 'missing', localToken);
  }
  const stranger = { accountId: randomUUID(), streamId: streamIds[0], receiverId: 'rcv_other' };
  const foreign = { name: 'm1', samples: [[startMs, 42]] } as const;
  const receivedAtNanos = nanos(startMs + 1e10);
  await engine.store.insert(
    'metrics/1',
    [metricBatch([foreign], { owner: stranger, receivedAtNanos })],
    'all',
    localToken,
  );
});
after(() => engine.close());

const matcherArbitrary: fc.Arbitrary<LabelMatcher> = fc.oneof(
  fc.record({
    name: pick('__name__', 'a', 'Z', 'ö', 'absent'),
    type: fc.constantFrom('equal' as const, 'notEqual' as const),
    value: fc.constantFrom(...values, 'm1', 'm2'),
  }),
  fc.record({
    name: pick('__name__', 'a', 'Z', 'ö', 'absent'),
    type: fc.constantFrom('matches' as const, 'notMatches' as const),
    value: fc.constantFrom(...patterns),
  }),
);

const planArbitrary: fc.Arbitrary<SamplesPlan> = fc
  .record({
    selectors: fc.array(fc.array(matcherArbitrary, { maxLength: 3 }), { maxLength: 3 }),
    streams: fc.uniqueArray(
      fc.record({
        streamId: fc.constantFrom(...streamIds),
        receivedFromNanos: fc.oneof(
          fc.constant(0n),
          fc.bigInt(nanos(startMs), nanos(startMs + 70 * hourMs)),
        ),
      }),
      { selector: ({ streamId }) => streamId },
    ),
    range: fc.tuple(timeArbitrary, timeArbitrary),
  })
  .map(({ selectors, streams, range: [one, other] }) => {
    const fromMs = BigInt(Math.min(one, other));
    const untilMs = BigInt(Math.max(one, other));
    const owner = { accountId, streamId: '', receiverId: '' };
    return samplesPlan(owner, selectors, { streams, fromMs, untilMs });
  });

test('the store agrees with the array for any selectors, streams and range', async () => {
  await fc.assert(
    fc.asyncProperty(planArbitrary, async (plan) => {
      const found = await engine.store.samples(plan);
      const flat = found.map(({ labels, times, values: bits }) => {
        return { labels, samples: Array.from(times, (time, i) => [time, bits[i]]) };
      });
      assert.deepEqual(flat, expectedSamples(stored, plan));

      const seriesPlan = { ...plan, limit: 10_000 };
      const series = expectedSeries(stored, seriesPlan);
      assert.deepEqual(await engine.store.series(seriesPlan), series);
      const names = new Set(series.flatMap((labels) => labels.map(([name]) => name)));
      assert.deepEqual(await engine.store.labelNames(seriesPlan), [...names].sort());
      for (const name of ['__name__', 'a', 'ö']) {
        const all = series.flatMap((labels) => labels.filter(([label]) => label === name));
        const expected = [...new Set(all.map(([, value]) => value))];
        const answer = await engine.store.labelValues(seriesPlan, name);
        assert.deepEqual(new Set(answer), new Set(expected));
        assert.deepEqual(
          answer,
          answer.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }
    }),
    { numRuns: runs(10) },
  );
});

test('each single pattern agrees with RE2', async () => {
  const owner = { accountId, streamId: '', receiverId: '' };
  const streams = streamIds.map((streamId) => ({ streamId, receivedFromNanos: 0n }));
  for (const value of patterns) {
    for (const type of ['matches', 'notMatches'] as const) {
      const plan = {
        ...samplesPlan(owner, [[{ name: 'a', type, value }]], { streams }),
        limit: 10_000,
      };
      assert.deepEqual(await engine.store.series(plan), expectedSeries(stored, plan), value);
    }
  }
});

test('merging all parts changes nothing', async () => {
  const owner = { accountId, streamId: '', receiverId: '' };
  for (const streamId of streamIds) {
    const plan = samplesPlan(owner, [], { streams: [{ streamId, receivedFromNanos: 0n }] });
    const unmerged = await engine.store.samples(plan);
    for (const table of ['samples', 'series']) {
      const sql = `OPTIMIZE TABLE weir.${localName(engine, table)} FINAL`;
      await engine.store.connection.execute('housekeeping', { sql, params: {} });
    }
    assert.deepEqual(await engine.store.samples(plan), unmerged);
  }
});
