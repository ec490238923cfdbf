/** Aligns series with different timestamps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignSeries, valueAt } from './aligned-series.ts';

test('aligns series on the union of their timestamps', () => {
  const a = { times: [1000, 3000], values: [1, 3] };
  const b = { times: [2000, 3000], values: [20, 30] };
  assert.deepEqual(alignSeries([a, b]), [
    [1, 2, 3],
    [1, undefined, 3],
    [undefined, 20, 30],
  ]);
});

test('breaks the line at stale markers and values that cannot be drawn', () => {
  const series = { times: [1, 2, 3], values: [1, Number.NaN, Infinity] };
  assert.deepEqual(alignSeries([series])[1], [1, null, null]);
});

test('breaks the line at a gap, not at the usual interval', () => {
  const times = [0, 15_000, 30_000, 45_000, 245_000, 260_000];
  const [seconds, column] = alignSeries([{ times, values: times.map(() => 1) }]);
  assert.deepEqual(seconds, [0, 15, 30, 45, 45.001, 245, 260]);
  assert.deepEqual(column, [1, 1, 1, 1, null, 1, 1]);
});

test('returns empty columns for no series', () => {
  assert.deepEqual(alignSeries([]), [[]]);
  assert.deepEqual(alignSeries([{ times: [], values: [] }]), [[], []]);
});

test('reads a value at the time of another series, not across a gap', () => {
  const a = { times: [1000, 3000], values: [1, 3] };
  const b = { times: [2000, 3000, 4000, 500_000], values: [20, 30, 40, 50] };
  const [, ofA, ofB] = alignSeries([a, b]);
  assert.deepEqual(
    [0, 1, 2].map((index) => [valueAt(ofA!, index), valueAt(ofB!, index)]),
    [
      [1, undefined],
      [1, 20],
      [3, 30],
    ],
  );
  assert.equal(valueAt(ofB!, 4), undefined);
});
