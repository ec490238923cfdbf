/** Series of a histogram by the values of any field. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type GroupedBucket, groupSeries } from './histogram-groups.ts';

const buckets: readonly GroupedBucket[] = [
  { groups: { a: 1, ERR: 2 }, other: 3 },
  { groups: { ERR: 3, '': 1 } },
];
const nameOf = (value: string) => (value === 'a' ? 'name of a' : undefined);

test('orders values by frequency, and the others last', () => {
  const series = groupSeries(buckets, 'host', nameOf, () => '');
  assert.deepEqual(
    series.map(({ name, values, total }) => [name, values, total]),
    [
      ['ERR', [2, 3], 5],
      ['name of a', [1, 0], 1],
      ['none', [0, 1], 1],
      ['others', [3, 0], 3],
    ],
  );
});

test('gives each value of a stack a colour', () => {
  const groups = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`node-${at}`, 1]));
  const colors = groupSeries([{ groups }], 'host', nameOf, () => '').map(({ color }) => color);
  assert.equal(new Set(colors).size, 10);
});

test('joins severities of one level, the worst first', () => {
  const names = groupSeries(buckets, 'severity', nameOf, () => '').map(({ name }) => name);
  assert.deepEqual(names, ['error', 'other']);
});
