/** Sums of counts of parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPartCounts, toPartCounts } from './part-counts.ts';

test('counts by 100 ms and by the second add up to counts by the second', () => {
  const short = toPartCounts(100, [
    ['s', ['a'], [2_000, 2_100, 3_000], [1, 2, 4], 2_005, 3_007],
    ['s', ['b'], [2_900], [8], 2_905, 2_907],
  ]);
  const long = toPartCounts(1_000, [['s', ['a'], [2_000, 4_000], [100, 200], 2_005, 4_007]]);
  const sum = addPartCounts([short, long]);
  const expected = toPartCounts(1_000, [
    ['s', ['a'], [2_000, 3_000, 4_000], [103, 4, 200], 2_005, 4_007],
    ['s', ['b'], [2_000], [8], 2_005, 2_007],
  ]);
  assert.deepEqual(sum, expected);
});

test('a part without logs of the account adds nothing', () => {
  const none = toPartCounts(100, []);
  const some = toPartCounts(100, [
    ['s', ['a', 'b'], [1_200], [1], 1_205, 1_207],
    ['t', ['b', 'a'], [1_200], [2], 1_205, 1_207],
  ]);
  assert.deepEqual(addPartCounts([none, some]), some);
  assert.deepEqual(addPartCounts([none, none]), none);
});

test('groups are those of equal streams and values', () => {
  const one = toPartCounts(100, [
    ['s', ['a', 'b'], [100], [1], 105, 107],
    ['s', ['b', 'a'], [100], [2], 105, 107],
  ]);
  const other = toPartCounts(100, [
    ['b', ['a', 's'], [100], [4], 105, 107],
    ['s', ['b', 'a'], [100, 200], [8, 16], 105, 207],
  ]);
  const expected = toPartCounts(100, [
    ['s', ['a', 'b'], [100], [1], 105, 107],
    ['s', ['b', 'a'], [100, 200], [10, 16], 105, 207],
    ['b', ['a', 's'], [100], [4], 105, 107],
  ]);
  assert.deepEqual(addPartCounts([one, other]), expected);
});
