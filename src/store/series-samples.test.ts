/** Joins series with their samples, in order. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { toSeriesSamples, uniqueColumns } from './series-samples.ts';
import type { SeriesRow } from './sql/series.ts';

const series: SeriesRow[] = [
  ['12', ['__name__', 'a'], ['up', 'x']],
  ['5', ['__name__'], ['up']],
  ['7', ['__name__'], ['zero']],
];
const samplesOf = (seriesId: bigint, times: readonly bigint[]) => ({
  seriesId,
  times: BigInt64Array.from(times),
  values: BigUint64Array.from(times, (time) => BigInt.asUintN(64, time * 3n)),
});

test('keeps the order of series and omits those without samples', () => {
  const message = Buffer.from([1]);
  const found = toSeriesSamples(
    series,
    [samplesOf(12n, [1n])],
    [{ seriesId: 5n, timeMs: 9n, message }],
  );
  assert.deepEqual(
    found.map(({ labels, times, histograms }) => [labels, times.length, histograms.length]),
    [
      [
        [
          ['__name__', 'up'],
          ['a', 'x'],
        ],
        1,
        0,
      ],
      [[['__name__', 'up']], 0, 1],
    ],
  );
});

test('sorts samples by any 64-bit time', () => {
  const time = fc.oneof(
    fc.bigInt(-(1n << 63n), (1n << 63n) - 1n),
    fc.bigInt(-3n, 3n),
    fc.bigInt(0xffff_fffen, 0x1_0000_0002n),
  );
  fc.assert(
    fc.property(fc.uniqueArray(time), fc.boolean(), (times, isSorted) => {
      const sorted = times.toSorted((a, b) => (a < b ? -1 : 1));
      const [found] = toSeriesSamples(series, [samplesOf(7n, isSorted ? sorted : times)], []);
      const expected = samplesOf(7n, sorted);
      assert.deepEqual(found?.times, expected.times);
      assert.deepEqual(found?.values, expected.values);
    }),
  );
});

suite('rows as they are stored', () => {
  const columns = (...rows: readonly (readonly [number, number])[]) => ({
    times: Float64Array.from(rows, ([time]) => time),
    values: Float64Array.from(rows, ([, value]) => value),
  });

  test('are sorted, each time once', () => {
    // Small times, so that rows repeat and runs overlap.
    const row = fc.integer({ min: 0, max: 20 }).map((time): [number, number] => [time, time * 3]);
    fc.assert(
      fc.property(fc.array(fc.array(row)), (runs) => {
        const parts = runs.map((run) => run.sort(([left], [right]) => left - right));
        const times = [...new Set(parts.flat().map(([time]) => time))].sort((a, b) => a - b);
        const expected = columns(...times.map((time): [number, number] => [time, time * 3]));
        assert.deepEqual(uniqueColumns(columns(...parts.flat())), expected);
      }),
    );
  });

  test('of one time that differ are left to the store', () => {
    assert.equal(uniqueColumns(columns([1, 5], [2, 6], [1, 7])), undefined);
    // A stale marker beside another NaN.
    const markers = columns([1, Number.NaN], [1, Number.NaN]);
    new BigUint64Array(markers.values.buffer)[1] = 0x7ff0000000000002n;
    assert.equal(uniqueColumns(markers), undefined);
  });
});
