/** Counts of windows that overlap, from one read of counts by step. Pure but for the read. */
import type { RuleSample } from '../../model/rules.ts';
import type { StatsPlan, StatsResult } from '../../model/plan.ts';

export interface Times {
  /** Unix ms; the last step is the end. */
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export interface WindowCounts {
  /** Counts the logs of the window that ends at the start. */
  readonly plan: StatsPlan;
  readonly times: Times;
  /** A multiple of the step. */
  readonly windowMs: number;
  /** Labels of a group. */
  readonly toLabels: (values: readonly string[]) => RuleSample['labels'];
}

const maxPoints = 50_000;

/**
 * @returns samples by the Unix ms at which their window ends, as one read for each would have them;
 * undefined = more groups than fit in memory
 */
export async function countWindows(
  store: { stats(plan: StatsPlan): Promise<StatsResult> },
  { plan, times: { startMs, endMs, stepMs }, windowMs, toLabels }: WindowCounts,
): Promise<Map<number, RuleSample[]> | undefined> {
  const width = windowMs / stepMs;
  const steps = Math.floor((endMs - startMs) / stepMs) + 1;
  const buckets = width + steps - 1;
  const limit = Math.min(plan.limit, Math.floor(maxPoints / buckets));
  if (limit < 1) return undefined;
  const { groups } = await store.stats({ ...plan, buckets, limit });
  if (groups.some(({ values }) => values === undefined)) return undefined;
  const vectors = new Map(
    Array.from({ length: steps }, (_, step) => [startMs + step * stepMs, [] as RuleSample[]]),
  );
  for (const { values = [], points } of groups) {
    const labels = toLabels(values);
    const counts = new Float64Array(buckets);
    for (const { bucket, values: own } of points) counts[bucket] = own[0] ?? 0;
    let sum = counts.subarray(0, width - 1).reduce((total, count) => total + count, 0);
    for (const [timeMs, vector] of vectors) {
      const step = (timeMs - startMs) / stepMs;
      sum += counts[step + width - 1]!;
      // Without groups no logs are a count too.
      if (sum > 0 || plan.by.length === 0) vector.push({ labels, value: sum });
      sum -= counts[step]!;
    }
  }
  return vectors;
}
