/** Whether a histogram of a counter started again from zero. */
import {
  boundOf,
  type Buckets,
  type Histogram,
  isCustom,
  reducedIndex,
  sameNumbers,
} from './histogram.ts';
import { widenZeroBucket } from './histogram-sum.ts';

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
  const widened = widenZeroBucket(previous, current.zeroThreshold);
  if (widened.zeroThreshold !== current.zeroThreshold) return true;
  if (current.zeroCount < widened.zeroCount) return true;
  return lost(current, widened, 'positive') || lost(current, widened, 'negative');
}

/** Whether a bucket has fewer observations than before. */
function lost(current: Histogram, previous: Histogram, side: 'positive' | 'negative'): boolean {
  const counts = new Map<number, number>();
  const { indexes, counts: own } = current[side];
  for (const [i, index] of indexes.entries()) counts.set(index, own[i]!);
  for (const [index, count] of reduced(previous, previous[side], current.schema)) {
    if (count > (counts.get(index) ?? 0)) return true;
  }
  return false;
}

function reduced(
  { schema }: Histogram,
  { indexes, counts }: Buckets,
  target: number,
): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const [i, index] of indexes.entries()) {
    const into = target === schema ? index : reducedIndex(index, schema, target);
    sums.set(into, (sums.get(into) ?? 0) + counts[i]!);
  }
  return sums;
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
