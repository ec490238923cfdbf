/** Sums of counts of parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPartCounts, toPartCounts } from './part-counts.ts';

test('counts by 100 ms and by the second add up to counts by the second', () => {
  const short = toPartCounts(1, [
    ['s', ['a'], [20, 21, 30], [1, 2, 4]],
    ['s', ['b'], [29], [8]],
  ]);
  const long = toPartCounts(10, [['s', ['a'], [20, 40], [100, 200]]]);
  const sum = addPartCounts([short, long]);
  const expected = toPartCounts(10, [
    ['s', ['a'], [20, 30, 40], [103, 4, 200]],
    ['s', ['b'], [20], [8]],
  ]);
  assert.deepEqual(sum, expected);
});
