/** Histograms of different resolution: their sum, and resets from one to the next. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Histogram, noBuckets } from './histogram.ts';
import { detectsReset } from './histogram-resets.ts';
import { add, reduceResolution, subtract } from './histogram-sum.ts';
import { widenZeroBucket } from './zero-bucket.ts';

function toHistogram(schema: number, counts: readonly number[]): Histogram {
  return {
    hint: 'unknown',
    schema,
    bounds: [],
    zeroThreshold: 0.001,
    zeroCount: 1,
    count: 1 + counts.reduce((sum, count) => sum + count, 0),
    sum: 5,
    positive: { indexes: counts.map((_, i) => i - 3), counts },
    negative: noBuckets,
  };
}

const coarse = toHistogram(1, [4, 4, 4, 4, 4, 4, 4, 4]);
const fine = toHistogram(3, [1, 2, 3, 4, 5, 6, 7, 8]);

suite('histograms of different zero thresholds', () => {
  // Buckets end at 2^-3 to 2^4.
  const narrow = { ...toHistogram(0, [1, 2, 3, 4, 5, 6, 7, 8]), zeroThreshold: 2 ** -5 };

  const widened: readonly (readonly [threshold: number, bound: number, taken: number])[] = [
    [2 ** -6, 2 ** -5, 0],
    [2 ** -4, 2 ** -4, 0],
    [2 ** -2, 2 ** -2, 1 + 2],
    // Within a bucket, which lies in the zero bucket as a whole.
    [0.3, 0.5, 1 + 2 + 3],
    [100, 100, 36],
  ];
  for (const [threshold, bound, taken] of widened) {
    test(`a zero bucket up to ${threshold} is one up to ${bound}`, () => {
      const { zeroThreshold, zeroCount, positive, count } = widenZeroBucket(narrow, threshold);
      const rest = positive.counts.reduce((sum, one) => sum + one, 0);
      assert.deepEqual([zeroThreshold, zeroCount, rest], [bound, 1 + taken, 36 - taken]);
      assert.equal(count, narrow.count);
    });
  }

  test('are added and subtracted with the wider one', () => {
    const wide = { ...narrow, zeroThreshold: 0.3, negative: narrow.positive };
    const same = widenZeroBucket(wide, 0.5);
    const other = widenZeroBucket(narrow, 0.5);
    assert.deepEqual(add(wide, narrow), add(same, other));
    assert.deepEqual(add(narrow, wide), add(other, same));
    assert.deepEqual(subtract(wide, narrow), subtract(same, other));
  });
});

suite('histograms of different resolution', () => {
  test('are added and subtracted in the lower one', () => {
    const reduced = reduceResolution(fine, 1);
    assert.deepEqual(reduced.positive, { indexes: [0, 1], counts: [10, 26] });
    assert.deepEqual(add(coarse, fine), add(coarse, reduced));
    assert.deepEqual(add(fine, coarse), add(reduced, coarse));
    assert.deepEqual(subtract(coarse, fine), subtract(coarse, reduced));
    assert.deepEqual(subtract(fine, coarse), subtract(reduced, coarse));
  });

  test('are a reset where a bucket of the lower one has less', () => {
    const later = { ...reduceResolution(fine, 1), count: 100 };
    assert.equal(detectsReset(later, fine), false);
    const [first = 0, ...others] = later.positive.counts;
    const less = { ...later, positive: { ...later.positive, counts: [first - 1, ...others] } };
    assert.equal(detectsReset(less, fine), true);
    const gone = { indexes: later.positive.indexes.slice(1), counts: others };
    assert.equal(detectsReset({ ...later, positive: gone }, fine), true);
    assert.equal(detectsReset(fine, coarse), true);
  });
});
