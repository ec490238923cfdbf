/** Quantiles agree with those of sorted numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../test/harness/random.ts';
import { quantile } from './quantile.ts';

test('agrees with sorting, NaN first', () => {
  const random = createRandom(3);
  for (let round = 0; round < 2000; round++) {
    const length = random.integer(1, 60);
    const numbers = Array.from({ length }, () => {
      const draw = random.next();
      if (draw < 0.05) return Number.NaN;
      return draw < 0.5 ? random.integer(0, 5) : random.next() * 100;
    });
    const sorted = numbers.toSorted((left, right) => {
      if (Number.isNaN(left) || Number.isNaN(right)) {
        return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
      }
      return left - right;
    });
    const q = round % 10 === 0 ? (round % 20) / 10 : random.next();
    const rank = q * (length - 1);
    const lower = Math.floor(rank);
    const upper = Math.min(length - 1, lower + 1);
    const expected = sorted[lower]! * (1 - (rank - lower)) + sorted[upper]! * (rank - lower);
    const spare = [...numbers, 7, 8, 9];
    assert.equal(
      quantile(q, Float64Array.from(spare), length),
      expected,
      `${q} of ${numbers.join()}`,
    );
  }
});

test('sorts an order in which each pivot is the least number left', () => {
  const count = 5000;
  const numbers = Float64Array.from({ length: count }, (_, i) => count + i);
  const places = Array.from(numbers.keys());
  for (let left = 0; left < 100; left++) {
    const middle = (left + count - 1) >>> 1;
    numbers[places[middle]!] = left;
    [places[left], places[middle]] = [places[middle]!, places[left]!];
  }
  const sorted = numbers.toSorted();
  assert.equal(quantile(0.5, numbers), (sorted[2499]! + sorted[2500]!) / 2);
});
