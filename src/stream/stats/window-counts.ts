/** Counts and sums of windows that overlap, from one read of shorter ones. Pure but for reading. */
import type { RuleSample } from '../../model/rules.ts';
import type { StatsPlan, StatsResult } from '../../model/plan.ts';
import type { QueryTimes } from '../../promql/evaluation.ts';
import { maxPoints, maxSteps } from './stats.ts';

export interface WindowCounts {
  /** Of all windows together; its only statistic is one that adds up. */
  readonly plan: StatsPlan;
  /** The last step is the end. */
  readonly times: QueryTimes;
  readonly windowMs: number;
  /** Labels of a group. */
  readonly toLabels: (values: readonly string[]) => RuleSample['labels'];
}

/**
 * @returns samples by the Unix ms at which their window ends, as one read for each would have them;
 * undefined = more buckets or groups than fit in memory
 */
export async function countWindows(
  store: { stats(plan: StatsPlan): Promise<StatsResult> },
  { plan, times: { startMs, endMs, stepMs }, windowMs, toLabels }: WindowCounts,
): Promise<Map<number, RuleSample[]> | undefined> {
  const bucketMs = greatestDivisor(windowMs, stepMs);
  const [width, stride] = [windowMs / bucketMs, stepMs / bucketMs];
  const steps = Math.floor((endMs - startMs) / stepMs) + 1;
  const buckets = (steps - 1) * stride + width;
  if (buckets > maxSteps) return undefined;
  const limit = Math.min(plan.limit, Math.floor(maxPoints / buckets));
  const { groups } = await store.stats({ ...plan, buckets, limit });
  if (groups.some(({ values }) => values === undefined)) return undefined;
  const vectors = Array.from({ length: steps }, (): RuleSample[] => []);
  // Without groups no logs are a count too.
  const isOfNoLogs = plan.by.length === 0 && plan.stats[0]!.op === 'count';
  for (const { values = [], points } of groups) {
    const labels = toLabels(values);
    // Before each bucket, the sum and how many buckets have a value.
    const before = new Float64Array(buckets + 1);
    const present = new Uint32Array(buckets + 1);
    for (const { bucket, values: own } of points) {
      const value = own[0] ?? null;
      before[bucket + 1] = value ?? 0;
      present[bucket + 1] = value === null ? 0 : 1;
    }
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      before[bucket + 1]! += before[bucket]!;
      present[bucket + 1]! += present[bucket]!;
    }
    for (const [step, vector] of vectors.entries()) {
      const first = step * stride;
      const value = before[first + width]! - before[first]!;
      const isPresent = present[first + width]! > present[first]!;
      if (isPresent || isOfNoLogs) vector.push({ labels, value });
    }
  }
  return new Map(vectors.map((vector, step) => [startMs + step * stepMs, vector]));
}

function greatestDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestDivisor(right, left % right);
}
