/** The ranking of values that tell two sets of logs apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparedValue } from '../model/sample-plan.ts';
import { chiSquareTail, gStatistic, rankDifferences } from './differences.ts';

/** Relative. */
function assertNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual / expected - 1) < tolerance, `${actual} is not near ${expected}`);
}

test('the tail of chi-square has the tabulated values', () => {
  assert.equal(chiSquareTail(0).toFixed(6), '1.000000');
  // Critical values of one degree of freedom.
  assertNear(chiSquareTail(2.705543454), 0.1, 1e-6);
  assertNear(chiSquareTail(3.841458821), 0.05, 1e-6);
  assertNear(chiSquareTail(6.634896601), 0.01, 1e-6);
  assertNear(chiSquareTail(10.82756617), 0.001, 1e-6);
  // erfc(5).
  assertNear(chiSquareTail(50), 1.5374597944280349e-12, 1e-6);
  assert.equal(chiSquareTail(5_000), 0);
});

test('G of equal shares is 0', () => {
  assert.equal(gStatistic([10, 20], [100, 200]), 0);
  assert.equal(gStatistic([0, 0], [100, 200]), 0);
  assert.equal(gStatistic([100, 200], [100, 200]), 0);
});

test('G agrees with sums of observed and expected counts', () => {
  // Rows 12, 5 and 8, 15: 2 * (12 ln(12/8.5) + 5 ln(5/8.5) + 8 ln(8/11.5) + 15 ln(15/11.5)).
  const expected =
    2 *
    (12 * Math.log(12 / 8.5) +
      5 * Math.log(5 / 8.5) +
      8 * Math.log(8 / 11.5) +
      15 * Math.log(15 / 11.5));
  assertNear(gStatistic([12, 5], [20, 20]), expected, 1e-12);
});

const value = (field: ComparedValue['field'], name: string, a: number, b: number) =>
  ({ field, value: name, counts: [a, b] }) as const;
const sampled = [1_000, 3_000] as const;

test('a value that only one set has explains everything', () => {
  const values = [value('label.version', '2', 1_000, 0)];
  const [only] = rankDifferences({ values, tested: 1, sampled, total: sampled });
  assertNear(only!.effect, 1, 1e-12);
  assert.deepEqual(only!.shares, [1, 0]);
  assert.equal(only!.p, 0);
});

test('values are ranked by effect, at most three of a field', () => {
  const values = [
    value('host', 'a', 300, 100),
    value('host', 'b', 400, 100),
    value('host', 'c', 100, 1_500),
    value('host', 'd', 500, 100),
    value('label.k', 'v', 200, 100),
  ];
  const ranked = rankDifferences({ values, tested: 5, sampled, total: sampled });
  assert.deepEqual(
    ranked.map(({ value: name }) => name),
    ['d', 'b', 'c', 'v'],
  );
});

test('p is multiplied with the number of tests', () => {
  // p is 0.0075.
  const result = {
    values: [value('host', 'a', 125, 285)],
    sampled,
    total: sampled,
  };
  const [only] = rankDifferences({ ...result, tested: 2 });
  assertNear(only!.p, 2 * chiSquareTail(gStatistic([125, 285], sampled)), 1e-12);
  assert.ok(only!.p < 0.05);
  assert.deepEqual(rankDifferences({ ...result, tested: 10 }), []);
});

test('an empty set differs in nothing', () => {
  const values = [value('host', 'a', 0, 10)];
  const none = [0, 10] as const;
  assert.deepEqual(rankDifferences({ values, tested: 1, sampled: none, total: none }), []);
});
