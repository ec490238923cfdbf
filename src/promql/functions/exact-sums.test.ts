/** Sums of windows are as exact as those of whole numbers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createRandom } from '../../../test/harness/random.ts';
import { RangeWindow } from '../selection.ts';
import { noTimes } from '../source.ts';
import { exactSums } from './exact-sums.ts';
import { sumFloats } from './sums.ts';

suite('exact sums', () => {
  test('of windows equal those of their values', () => {
    const random = createRandom(5);
    // Multiples of 2^-20, as whole numbers and as floats.
    const wholes = Array.from({ length: 500 }, () => {
      const digits = BigInt(random.integer(1, 2 ** 30)) << BigInt(random.integer(0, 9));
      return random.next() < 0.5 ? -digits : digits;
    });
    const values = Float64Array.from(wholes, (whole) => Number(whole) / 2 ** 20);
    const times = values.map((_, i) => i);
    const range = { times, values, from: 3, to: 490 };
    assert.ok(exactSums(values, range.from, range.to));
    const window = new RangeWindow({
      ...range,
      labels: [],
      histogramTimes: noTimes,
      histograms: [],
    });
    for (let end = 10; end < 500; end += random.integer(0, 9)) {
      window.move(end - random.integer(1, 9), end);
      const whole = wholes.slice(window.from, window.to).reduce((sum, one) => sum + one, 0n);
      assert.equal(sumFloats(window), Number(whole) / 2 ** 20);
    }
  });

  test('are left to others where digits may be lost', () => {
    for (const values of [
      [1e20, 1e-5, 1],
      [1, Number.NaN],
      [1, Infinity],
      [1, -Infinity],
    ]) {
      assert.equal(exactSums(Float64Array.from(values), 0, values.length), undefined);
    }
    assert.ok(exactSums(Float64Array.from([0, -0, 0]), 0, 3));
  });
});
