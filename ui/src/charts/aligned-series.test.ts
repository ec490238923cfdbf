/** Series of different times on one axis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignSeries } from './aligned-series.ts';

test('series meet on the union of their times', () => {
  const a = { times: [1000, 3000], values: [1, 3] };
  const b = { times: [2000, 3000], values: [20, 30] };
  assert.deepEqual(alignSeries([a, b]), [
    [1, 2, 3],
    [1, undefined, 3],
    [undefined, 20, 30],
  ]);
});

test('a mark of an end, and what cannot be drawn, breaks the line', () => {
  const series = { times: [1, 2, 3], values: [1, Number.NaN, Infinity] };
  assert.deepEqual(alignSeries([series])[1], [1, null, null]);
});

test('a pause breaks the line, a usual distance does not', () => {
  const times = [0, 15_000, 30_000, 45_000, 245_000, 260_000];
  const [seconds, column] = alignSeries([{ times, values: times.map(() => 1) }]);
  assert.deepEqual(seconds, [0, 15, 30, 45, 45.001, 245, 260]);
  assert.deepEqual(column, [1, 1, 1, 1, null, 1, 1]);
});

test('nothing is nothing', () => {
  assert.deepEqual(alignSeries([]), [[]]);
  assert.deepEqual(alignSeries([{ times: [], values: [] }]), [[], []]);
});
