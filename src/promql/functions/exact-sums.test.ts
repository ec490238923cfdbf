/** Sums of windows are as exact as those of whole numbers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createRandom, type Random } from '../../../test/harness/random.ts';
import { noLabels } from '../labels.ts';
import { newSeries } from '../values.ts';
import { Windows } from '../windows.ts';
import { columns } from './columns.ts';
import { ExactSums } from './exact-sums.ts';

suite('exact sums', () => {
  test('of windows equal those of their values', () => {
    const random = createRandom(5);
    const exact = new ExactSums();
    // Whole numbers whose sums exceed 2^53, then smaller ones where rests are left.
    checkWindows(exact, random, { scale: 1, shifts: 20 });
    checkWindows(exact, random, { scale: 1, shifts: 9 });
    checkWindows(exact, random, { scale: 2 ** 20, shifts: 20 });
  });

  test('are left to others where digits may be lost', () => {
    for (const values of [
      [1e20, 1e-5, 1],
      [1, Number.NaN],
      [1, Infinity],
      [1, -Infinity],
      [1e308, 1e308],
    ]) {
      assert.equal(new ExactSums().add(Float64Array.from(values), 0, values.length), false);
    }
    assert.ok(new ExactSums().add(Float64Array.from([0, -0, 0]), 0, 3));
  });
});

/** Multiples of 1 / `scale` with different magnitudes, as whole numbers and as floats. */
function checkWindows(
  exact: ExactSums,
  random: Random,
  { scale, shifts }: { readonly scale: number; readonly shifts: number },
): void {
  const wholes = Array.from({ length: 500 }, () => {
    const digits = BigInt(random.integer(1, 2 ** 30)) << BigInt(random.integer(0, shifts));
    return random.next() < 0.1 ? -digits : digits;
  });
  const values = Float64Array.from(wholes, (whole) => Number(whole) / scale);
  const times = values.map((_, i) => i);
  const series = { times, values, from: 3, to: 490 };
  assert.ok(exact.add(values, series.from, series.to));
  const steps = 400;
  const looks = { first: 10, last: 10 + steps - 1, stepMs: 1 };
  const windows = new Windows(series, { looks, steps, beforeMs: 8, afterMs: 0 });
  const cells = newSeries(noLabels, steps);
  assert.ok(columns.get('sum_over_time')!(series, windows, { cells, rangeSeconds: 0.008, exact }));
  for (let step = 0; step < steps; step++) {
    const window = wholes.slice(windows.from[step], windows.to[step]);
    const sum = window.reduce((total, one) => total + one, 0n);
    assert.equal(cells.floats[step], Number(sum) / scale);
  }
}
