/** The cardinality of the series of today, in the form of Prometheus' `status/tsdb`. Pure. */
import { z } from 'zod';
import { type Label, metricNameLabel } from '../model/metric-plan.ts';

const stats = z.array(z.object({ name: z.string(), value: z.number() }));

export const tsdbStatus = z.object({
  headStats: z.object({
    numSeries: z.number(),
    numLabelPairs: z.number(),
    /** Of no meaning here; clients expect them. */
    chunkCount: z.number(),
    minTime: z.number(),
    maxTime: z.number(),
  }),
  seriesCountByMetricName: stats,
  labelValueCountByLabelName: stats,
  memoryInBytesByLabelName: stats,
  seriesCountByLabelValuePair: stats,
});

/** @param limit entries of each list, the largest first */
export function toTsdbStatus(
  series: readonly (readonly Label[])[],
  { fromMs, untilMs, limit }: { fromMs: number; untilMs: number; limit: number },
): z.output<typeof tsdbStatus> {
  const metrics = new Map<string, number>();
  const pairs = new Map<string, number>();
  const values = new Map<string, Set<string>>();
  for (const [name, value] of series.flat()) {
    if (name === metricNameLabel) increase(metrics, value);
    increase(pairs, `${name}=${value}`);
    const known = values.get(name);
    if (known === undefined) values.set(name, new Set([value]));
    else known.add(value);
  }
  const bytes = (texts: ReadonlySet<string>) =>
    [...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const largest = (counts: Iterable<readonly [string, number]>) =>
    [...counts]
      .sort(([, left], [, right]) => right - left)
      .slice(0, limit)
      .map(([name, value]) => ({ name, value }));
  return {
    headStats: {
      numSeries: series.length,
      numLabelPairs: pairs.size,
      chunkCount: 0,
      minTime: fromMs,
      maxTime: untilMs,
    },
    seriesCountByMetricName: largest(metrics),
    labelValueCountByLabelName: largest([...values].map(([name, set]) => [name, set.size])),
    memoryInBytesByLabelName: largest([...values].map(([name, set]) => [name, bytes(set)])),
    seriesCountByLabelValuePair: largest(pairs),
  };
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
