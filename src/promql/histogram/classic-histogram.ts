/** Quantiles and fractions of classic histograms: cumulative counts by upper bound. Pure. */

export interface ClassicBucket {
  readonly upper: number;
  count: number;
}

/** Where a count was lower than that of a smaller bound. */
export interface Forced {
  readonly lowest: number;
  readonly highest: number;
  readonly difference: number;
}

/** Differences below this are rounding. */
const tolerance = 1e-12;

export function bucketQuantile(
  q: number,
  unsorted: readonly ClassicBucket[],
): { readonly value: number; readonly forced?: Forced } {
  if (Number.isNaN(q)) return { value: Number.NaN };
  if (q < 0) return { value: -Infinity };
  if (q > 1) return { value: Infinity };
  const buckets = coalesce(unsorted);
  if (buckets.at(-1)?.upper !== Infinity) return { value: Number.NaN };
  const forced = makeMonotonic(buckets);
  const value = quantileOf(q, buckets);
  return forced === undefined ? { value } : { value, forced };
}

function quantileOf(q: number, buckets: readonly ClassicBucket[]): number {
  const total = buckets.at(-1)!.count;
  if (buckets.length < 2 || total === 0) return Number.NaN;
  let rank = q * total;
  const last = buckets.length - 1;
  // A NaN rank reaches the last bucket.
  const found = buckets.slice(0, last).findIndex(({ count }) => count >= rank);
  const index = found === -1 ? last : found;
  if (index === last) return buckets[last - 1]!.upper;
  const { upper, count } = buckets[index]!;
  if (index === 0) return upper <= 0 ? upper : upper * (rank / count);
  const before = buckets[index - 1]!;
  rank -= before.count;
  return before.upper + (upper - before.upper) * (rank / (count - before.count));
}

export function bucketFraction(
  lower: number,
  upper: number,
  unsorted: readonly ClassicBucket[],
): number {
  const buckets = coalesce(unsorted);
  if (buckets.at(-1)?.upper !== Infinity) return Number.NaN;
  const total = buckets.at(-1)!.count;
  if (total === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const below = (value: number) => Math.min(total, countBelow(buckets, value) ?? total);
  return (below(upper) - below(lower)) / total;
}

function countBelow(buckets: readonly ClassicBucket[], value: number): number | undefined {
  let rank = 0;
  // Observations are positive unless a bound is not.
  let lower = buckets[0]!.upper > 0 ? 0 : -Infinity;
  for (const { upper, count } of buckets) {
    if (lower >= value) return rank;
    if (upper > value) {
      if (lower === -Infinity) return count;
      return rank + ((count - rank) * (value - lower)) / (upper - lower);
    }
    rank = count;
    lower = upper;
  }
  return undefined;
}

/** Sorted by bound; buckets of one bound are added up. */
function coalesce(unsorted: readonly ClassicBucket[]): ClassicBucket[] {
  const sorted = unsorted
    .map((bucket) => ({ ...bucket }))
    .sort((a, b) => compare(a.upper, b.upper));
  const merged: ClassicBucket[] = [];
  for (const bucket of sorted) {
    const last = merged.at(-1);
    if (last?.upper === bucket.upper) last.count += bucket.count;
    else merged.push(bucket);
  }
  return merged;
}

function compare(left: number, right: number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function makeMonotonic(buckets: ClassicBucket[]): Forced | undefined {
  let lowest = Infinity;
  let highest = -Infinity;
  let difference = 0;
  let before = buckets[0]!.count;
  for (const bucket of buckets.slice(1)) {
    const { count, upper } = bucket;
    const isRounding = nearlyEqual(before, count);
    if (isRounding || count < before) bucket.count = before;
    else if (count !== before) before = count;
    if (isRounding || !(count < before)) continue;
    lowest = Math.min(lowest, upper);
    highest = Math.max(highest, upper);
    difference = Math.max(difference, before - count);
  }
  return lowest === Infinity && highest === -Infinity ? undefined : { lowest, highest, difference };
}

function nearlyEqual(left: number, right: number): boolean {
  if (left === right) return true;
  const sum = Math.abs(left) + Math.abs(right);
  const smallest = 2 ** -1022;
  if (left === 0 || right === 0 || sum < smallest) {
    return Math.abs(left - right) < tolerance * smallest;
  }
  return Math.abs(left - right) / Math.min(sum, Number.MAX_VALUE) < tolerance;
}
