/** What a range is compared with, as API parameters. Pure. */
import type { Baseline, TimeBounds } from '../query.ts';
import { withCondition } from '../terms.ts';

const dayMs = 86_400_000;

export function baselineOf(
  baseline: Baseline,
  { sinceTime, untilTime }: TimeBounds,
  query: string | undefined,
): { baselineFrom?: string; baselineTo?: string; baselineQuery?: string } {
  if (baseline === 'before') return {};
  if (baseline === 'others') {
    return query === undefined ? {} : { baselineQuery: withCondition('', query, true) };
  }
  const shiftMs = baseline === 'day' ? dayMs : 7 * dayMs;
  const earlier = (time: string) => new Date(Math.max(0, Date.parse(time) - shiftMs)).toISOString();
  return { baselineFrom: earlier(sinceTime), baselineTo: earlier(untilTime) };
}
