/** Sums of counts of parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPartCounts, toPartCounts } from './part-counts.ts';

test('counts by ten seconds and by the minute add up to counts by the minute', () => {
  const short = toPartCounts(1, [
    ['s', ['a'], [12, 13, 18], [1, 2, 4]],
    ['s', ['b'], [17], [8]],
  ]);
  const long = toPartCounts(6, [['s', ['a'], [12, 24], [100, 200]]]);
  const sum = addPartCounts([short, long]);
  const expected = toPartCounts(6, [
    ['s', ['a'], [12, 18, 24], [103, 4, 200]],
    ['s', ['b'], [12], [8]],
  ]);
  assert.deepEqual(sum, expected);
});
