/** Lines of statistics, and the baselines of comparisons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf } from './baseline.ts';
import { stepFor, toLines } from './stats-lines.ts';

const hour = { sinceTime: '2026-04-01T08:00:00.000Z', untilTime: '2026-04-01T09:00:00.000Z' };
const nameless = () => undefined;

test('a step fits the range', () => {
  assert.equal(stepFor('', hour), '1m');
  assert.equal(stepFor('1s', hour), '1s');
  assert.equal(stepFor('', { ...hour, sinceTime: '2026-03-31T09:00:00.000Z' }), '15m');
  // More points than the service answers.
  assert.equal(stepFor('1s', { ...hour, sinceTime: '2026-03-01T08:00:00.000Z' }), '1d');
});

test('rows become a line for each group', () => {
  const values = { count: 2 };
  const rows = [
    { time: hour.sinceTime, by: { host: 'a' }, values },
    { time: hour.untilTime, by: { host: 'a' }, values: { count: null } },
    { time: hour.sinceTime, by: { host: '' }, values },
    { time: hour.sinceTime, by: {}, other: true as const, values },
  ];
  const lines = toLines(rows, nameless);
  assert.deepEqual(
    lines.map(({ name, value }) => [name, value]),
    [
      ['a', 'a'],
      ['none', ''],
      ['all others', undefined],
    ],
  );
  assert.deepEqual(lines[0]!.times, [Date.parse(hour.sinceTime), Date.parse(hour.untilTime)]);
  assert.deepEqual(lines[0]!.values, [2, Number.NaN]);
});

test('a baseline is as long as the range', () => {
  assert.deepEqual(baselineOf('before', hour, 'a'), {});
  assert.deepEqual(baselineOf('others', hour, 'a OR b'), { baselineQuery: '-(a OR b)' });
  // In parentheses the word would take the closing one.
  for (const [query, others] of [
    ['main(', '-"main("'],
    ['C:\\', '-C:"\\\\"'],
    ['-timeout', 'timeout'],
  ] as const) {
    assert.deepEqual(baselineOf('others', hour, query), { baselineQuery: others });
  }
  assert.deepEqual(baselineOf('day', hour, undefined), {
    baselineFrom: '2026-03-31T08:00:00.000Z',
    baselineTo: '2026-03-31T09:00:00.000Z',
  });
});
