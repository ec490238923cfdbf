/** Whether a histogram of a counter started again from zero. */
import { boundOf, type Histogram, isCustom, reducedIndex, sameNumbers } from './histogram.ts';
import { widenZeroBucket } from './zero-bucket.ts';

export function detectsReset(current: Histogram, previous: Histogram): boolean {
  if (current.hint === 'reset') return true;
  if (current.hint === 'not_reset') return false;
  if (current.count < previous.count) return true;
  if (isCustom(current)) {
    if (!isCustom(previous)) return true;
    if (!sameNumbers(current.bounds, previous.bounds)) return lostInBounds(current, previous);
  }
  if (current.schema > previous.schema || current.zeroThreshold < previous.zeroThreshold) {
    return true;
  }
  const isWider = current.zeroThreshold > previous.zeroThreshold;
  const widened = isWider ? widenZeroBucket(previous, current.zeroThreshold) : previous;
  if (widened.zeroThreshold !== current.zeroThreshold) return true;
  if (current.zeroCount < widened.zeroCount) return true;
  return lost(current, widened, 'positive') || lost(current, widened, 'negative');
}

/** Whether a bucket has fewer observations than before. */
function lost(current: Histogram, previous: Histogram, side: 'positive' | 'negative'): boolean {
  const { indexes, counts } = current[side];
  const before = previous[side];
  const perBucket = 2 ** (previous.schema - current.schema);
  let at = 0;
  for (let i = 0; i < before.indexes.length; ) {
    const index = reducedIndex(before.indexes[i]!, perBucket);
    let count = 0;
    do count += before.counts[i++]!;
    while (i < before.indexes.length && reducedIndex(before.indexes[i]!, perBucket) === index);
    while (at < indexes.length && indexes[at]! < index) at += 1;
    if (count > (indexes[at] === index ? counts[at]! : 0)) return true;
  }
  return false;
}

/** Compares observations between bounds that both have. */
function lostInBounds(current: Histogram, previous: Histogram): boolean {
  const shared = current.bounds.filter((bound) => previous.bounds.includes(bound));
  const now = countsBetween(current, shared);
  const before = countsBetween(previous, shared);
  return before.some((count, i) => now[i]! < count);
}

function countsBetween(histogram: Histogram, bounds: readonly number[]): number[] {
  const sums = Array.from({ length: bounds.length + 1 }, () => 0);
  const { indexes, counts } = histogram.positive;
  for (const [i, index] of indexes.entries()) {
    const upper = boundOf(histogram, index);
    const found = bounds.findIndex((bound) => bound >= upper);
    const into = found === -1 ? bounds.length : found;
    sums[into] = sums[into]! + counts[i]!;
  }
  return sums;
}
