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

test('a part without logs of the account adds nothing', () => {
  const none = toPartCounts(1, []);
  const some = toPartCounts(1, [
    ['s', ['a', 'b'], [12], [1]],
    ['t', ['b', 'a'], [12], [2]],
  ]);
  assert.deepEqual(addPartCounts([none, some]), some);
  assert.deepEqual(addPartCounts([none, none]), none);
});

test('groups are those of equal streams and values', () => {
  const one = toPartCounts(1, [
    ['s', ['a', 'b'], [1], [1]],
    ['s', ['b', 'a'], [1], [2]],
  ]);
  const other = toPartCounts(1, [
    ['b', ['a', 's'], [1], [4]],
    ['s', ['b', 'a'], [1, 2], [8, 16]],
  ]);
  const expected = toPartCounts(1, [
    ['s', ['a', 'b'], [1], [1]],
    ['s', ['b', 'a'], [1, 2], [10, 16]],
    ['b', ['a', 's'], [1], [4]],
  ]);
  assert.deepEqual(addPartCounts([one, other]), expected);
});
