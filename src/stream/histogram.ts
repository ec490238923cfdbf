/** The histogram: exactly as many buckets as asked, with their edges and counts. Pure. */
import type { HistogramPlan, HistogramResult } from '../model/plan.ts';
import type { HistogramResponse } from './responses.ts';

export function toHistogramResponse(
  plan: HistogramPlan,
  result: HistogramResult,
): HistogramResponse {
  const edges = Array.from({ length: plan.buckets + 1 }, (_, i) => isoEdge(plan, i));
  const buckets = result.counts.map((count, i) => ({
    startTime: edges[i]!,
    endTime: edges[i + 1]!,
    count,
    ...(result.groups && { groups: groupCounts(result.groups, i) }),
  }));
  return {
    startTime: edges[0]!,
    endTime: edges.at(-1)!,
    buckets,
    total: result.counts.reduce((sum, count) => sum + count, 0),
  };
}

/** Edge i = start + floor(i * range / buckets); at most 500 * 5.6e12, so exact in a double. */
function isoEdge(plan: HistogramPlan, i: number): string {
  const offset = Math.floor((i * (plan.endMs - plan.startMs)) / plan.buckets);
  return new Date(plan.startMs + offset).toISOString();
}

/** Entries, not assignment: a severity may be called `__proto__`. */
function groupCounts(
  groups: ReadonlyMap<string, readonly number[]>,
  bucket: number,
): Record<string, number> {
  const counts = [...groups].map(([value, ofGroup]) => [value, ofGroup[bucket]!] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
