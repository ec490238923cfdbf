/** Buckets of histograms over time as the cells of a heat map. Pure. */
import type { HeatGrid } from '../../charts/heat-map.tsx';
import type { Bucket, Labels, PlottedSeries } from './plotted-series.ts';

const maxRows = 60;

/** Series of native histograms, or with the label `le` of classic buckets. */
export function hasBuckets(series: readonly Pick<PlottedSeries, 'labels' | 'histograms'>[]) {
  return series.some(({ labels, histograms }) => histograms !== undefined || isBucket(labels));
}

function isBucket(labels: Labels): boolean {
  return upperOf(labels) !== undefined;
}

function upperOf({ le }: Labels): number | undefined {
  if (le === undefined) return undefined;
  const bound = /^\+?Inf$/.test(le) ? Infinity : Number(le);
  return Number.isNaN(bound) ? undefined : bound;
}

/** Sums the buckets of all series; undefined if there are none. */
export function toHeatGrid(series: readonly PlottedSeries[]): HeatGrid | undefined {
  const times = series[0]?.times ?? [];
  const columns = times.map(() => [] as Bucket[]);
  for (const { times: own, histograms } of series) {
    if (histograms === undefined) continue;
    own.forEach((time, at) => columns[at]?.push(...(histograms.get(time) ?? [])));
  }
  addClassic(series, columns);
  const edges = edgesOf(columns.flat());
  if (edges.length < 2) return undefined;
  const placeOf = new Map(edges.map((edge, place) => [edge, place]));
  const perRow = Math.ceil((edges.length - 1) / maxRows);
  const rows = Math.ceil((edges.length - 1) / perRow);
  const cells = columns.map((buckets) => {
    const column = new Float64Array(rows);
    for (const { lower, upper, count } of buckets) {
      const [from, until] = [placeOf.get(lower)!, placeOf.get(upper)!];
      for (let place = from; place < until; place += 1) {
        column[Math.floor(place / perRow)]! += count / (until - from);
      }
    }
    return column;
  });
  const rowEdges = Array.from({ length: rows + 1 }, (_, row) => {
    return edges[Math.min(row * perRow, edges.length - 1)]!;
  });
  return { times, edges: rowEdges, cells };
}

/** Classic buckets are cumulative: each counts what the one below it counts too. */
function addClassic(series: readonly PlottedSeries[], columns: readonly Bucket[][]): void {
  const groups = Map.groupBy(
    series.filter(({ labels }) => isBucket(labels)),
    ({ labels: { le: _, __name__: __, ...others } }) => JSON.stringify(others),
  );
  for (const group of groups.values()) {
    const sorted = group.toSorted((a, b) => upperOf(a.labels)! - upperOf(b.labels)!);
    columns.forEach((column, at) => {
      // As `histogram_quantile` has it, the first of positive bounds begins at zero.
      let [lower, below] = [(upperOf(sorted[0]!.labels) ?? 0) > 0 ? 0 : -Infinity, 0];
      for (const { labels, values } of sorted) {
        const upper = upperOf(labels)!;
        const total = values[at] ?? Number.NaN;
        if (Number.isNaN(total)) continue;
        // Buckets that are scraped in between may count less than the one below.
        column.push({ lower, upper, count: Math.max(0, total - below) });
        [lower, below] = [upper, Math.max(below, total)];
      }
    });
  }
}

function edgesOf(buckets: readonly Bucket[]): number[] {
  const edges = new Set(buckets.flatMap(({ lower, upper }) => [lower, upper]));
  return [...edges].sort((a, b) => a - b);
}
