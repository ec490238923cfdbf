/** How many series and label values an account has, as Prometheus' `status/tsdb` shows. Pure. */
import { z } from 'zod';
import { metricNameLabel } from '../codec/series-labels.ts';
import type { Label } from '../model/metric-plan.ts';

const counts = z.array(z.object({ name: z.string(), value: z.int() }));

export const cardinality = z.object({
  headStats: z.object({
    numSeries: z.int(),
    numLabelPairs: z.int(),
    chunkCount: z.int(),
    minTime: z.int().meta({ description: 'Unix ms.' }),
    maxTime: z.int().meta({ description: 'Unix ms.' }),
  }),
  seriesCountByMetricName: counts,
  labelValueCountByLabelName: counts,
  memoryInBytesByLabelName: counts,
  seriesCountByLabelValuePair: counts,
});

/** @param limit most entries of each list. */
export function toCardinality(
  series: readonly (readonly Label[])[],
  { fromMs, untilMs }: { readonly fromMs: bigint; readonly untilMs: bigint },
  limit: number,
): z.output<typeof cardinality> {
  const byMetric = new Map<string, number>();
  const byPair = new Map<string, number>();
  const values = new Map<string, Set<string>>();
  for (const labels of series) {
    for (const [name, value] of labels) {
      if (name === metricNameLabel) increment(byMetric, value);
      increment(byPair, `${name}=${value}`);
      const known = values.get(name) ?? new Set();
      values.set(name, known.add(value));
    }
  }
  const sizes = [...values].map(([name, all]) => [name, bytesOf(all)] as const);
  const sets = [...values].map(([name, all]) => [name, all.size] as const);
  return {
    headStats: {
      numSeries: series.length,
      numLabelPairs: byPair.size,
      chunkCount: 0,
      minTime: Number(fromMs),
      maxTime: Number(untilMs),
    },
    seriesCountByMetricName: greatest(byMetric, limit),
    labelValueCountByLabelName: greatest(sets, limit),
    memoryInBytesByLabelName: greatest(sizes, limit),
    seriesCountByLabelValuePair: greatest(byPair, limit),
  };
}

function increment(counter: Map<string, number>, key: string): void {
  counter.set(key, (counter.get(key) ?? 0) + 1);
}

function bytesOf(values: ReadonlySet<string>): number {
  let bytes = 0;
  for (const value of values) bytes += Buffer.byteLength(value);
  return bytes;
}

function greatest(entries: Iterable<readonly [string, number]>, limit: number) {
  return [...entries]
    .sort(([, left], [, right]) => right - left)
    .slice(0, limit)
    .map(([name, value]) => ({ name, value }));
}
