/** Sums of counts of parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPartCounts, toPartCounts } from './part-counts.ts';

test('counts by 100 ms and by the second add up to counts by the second', () => {
  const short = toPartCounts(100, [
    ['s', ['a'], [2_000, 2_100, 3_000], [1, 2, 4]],
    ['s', ['b'], [2_900], [8]],
  ]);
  const long = toPartCounts(1_000, [['s', ['a'], [2_000, 4_000], [100, 200]]]);
  const sum = addPartCounts([short, long]);
  const expected = toPartCounts(1_000, [
    ['s', ['a'], [2_000, 3_000, 4_000], [103, 4, 200]],
    ['s', ['b'], [2_000], [8]],
  ]);
  assert.deepEqual(sum, expected);
});

test('a part without logs of the account adds nothing', () => {
  const none = toPartCounts(100, []);
  const some = toPartCounts(100, [
    ['s', ['a', 'b'], [1_200], [1]],
    ['t', ['b', 'a'], [1_200], [2]],
  ]);
  assert.deepEqual(addPartCounts([none, some]), some);
  assert.deepEqual(addPartCounts([none, none]), none);
});

test('groups are those of equal streams and values', () => {
  const one = toPartCounts(100, [
    ['s', ['a', 'b'], [100], [1]],
    ['s', ['b', 'a'], [100], [2]],
  ]);
  const other = toPartCounts(100, [
    ['b', ['a', 's'], [100], [4]],
    ['s', ['b', 'a'], [100, 200], [8, 16]],
  ]);
  const expected = toPartCounts(100, [
    ['s', ['a', 'b'], [100], [1]],
    ['s', ['b', 'a'], [100, 200], [10, 16]],
    ['b', ['a', 's'], [100], [4]],
  ]);
  assert.deepEqual(addPartCounts([one, other]), expected);
});
