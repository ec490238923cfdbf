/** Histograms of different resolution: their sum, and resets from one to the next. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Histogram, noBuckets } from './histogram.ts';
import { detectsReset } from './histogram-resets.ts';
import { add, reduceResolution, subtract } from './histogram-sum.ts';

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
