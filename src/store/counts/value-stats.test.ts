/** Statistics of values and their counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatsPlan } from '../../model/plan.ts';
import { toStatsGroups } from './value-stats.ts';

const plan: StatsPlan = {
  filter: {
    accountId: 'a',
    streams: [],
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
  },
  startMs: 0,
  endMs: 2,
  buckets: 2,
  stats: [
    { op: 'quantile', field: 'label.ms', quantile: 0.75 },
    { op: 'avg', field: 'label.ms' },
    { op: 'uniq', field: 'label.ms' },
    { op: 'count', field: 'label.ms' },
  ],
  by: ['host'],
  limit: 1,
  isExact: true,
};
const group = (host: string, counts: Readonly<Record<string, readonly number[]>>) => ({
  values: [host],
  fields: [new Map(Object.entries(counts).map(([text, own]) => [text, Float64Array.from(own)]))],
});

test('a quantile lies between the two values beside its place', () => {
  const groups = toStatsGroups(plan, [
    group('web', { 10: [2, 1], 20: [1, 0], 'n/a': [1, 0], '': [5, 0] }),
    group('db', { 1: [1, 0] }),
    group('cache', { 5: [0, 1] }),
    group('unused', { 900: [0, 0] }),
  ]);
  assert.deepEqual(groups, [
    {
      values: ['web'],
      points: [
        { bucket: 0, values: [15, 40 / 3, 3, 4] },
        { bucket: 1, values: [10, 10, 1, 1] },
      ],
    },
    {
      values: undefined,
      points: [
        { bucket: 0, values: [1, 1, 1, 1] },
        { bucket: 1, values: [5, 5, 1, 1] },
      ],
    },
  ]);
});

for (const text of ['1e3', '0x10', ' 5', '+5', '.5', '12345678901234567890']) {
  test(`the number ${JSON.stringify(text)} is left to the store`, () => {
    assert.equal(toStatsGroups(plan, [group('web', { [text]: [1, 0] })]), undefined);
    const [, , ...counts] = plan.stats;
    assert.ok(toStatsGroups({ ...plan, stats: counts }, [group('web', { [text]: [1, 0] })]));
  });
}
