/** `histogram_quantile`, `histogram_quantiles` and `histogram_fraction`, classic and native. */
import { forMetric } from '../annotations.ts';
import { type Call, type Span, withoutParens } from '../parser/ast.ts';
import {
  bucketFraction,
  bucketQuantile,
  type ClassicBucket,
} from '../histogram/classic-histogram.ts';
import type { Evaluation } from '../evaluation.ts';
import {
  type Estimate,
  histogramFraction,
  histogramQuantile,
} from '../histogram/histogram-quantile.ts';
import type { Histogram } from '../histogram/histogram.ts';
import {
  dropLabels,
  type Labels,
  labelsKey,
  labelValue,
  metricName,
  withLabel,
} from '../labels.ts';
import { formatNumber, formatShort } from '../parser/numbers.ts';
import {
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  mergeEqual,
  newSeries,
  setCell,
  timeOf,
  withoutName,
} from '../values.ts';

interface HistogramCall {
  readonly call: Call;
  readonly series: readonly GridSeries[];
  /** Scalar arguments, by step. */
  readonly scalars: readonly Float64Array[];
  /** Of `histogram_quantiles`: the label with the quantile. */
  readonly label: string;
}

/** What is computed of each histogram, and under which labels. */
interface Measure {
  readonly at: Span;
  readonly native: (histogram: Histogram, step: number) => Estimate;
  readonly classic: (
    buckets: readonly ClassicBucket[],
    step: number,
  ) => ReturnType<typeof bucketQuantile>;
  readonly relabel: (labels: Labels) => Labels;
}

export async function callOnHistograms(
  ev: Evaluation,
  grid: Grid,
  request: HistogramCall,
): Promise<readonly GridSeries[]> {
  const { call, series, scalars, label } = request;
  const isQuantiles = call.name === 'histogram_quantiles';
  const at = withoutParens(call.args[isQuantiles ? 0 : call.args.length - 1]!);
  const groups = groupBuckets(ev, series, at);
  const results: GridSeries[] = [];
  for (const measure of measuresOf(ev, { call, scalars, label, at })) {
    for (const one of series) {
      results.push(await measureNative(ev, grid, { series: one, groups, measure }));
    }
    for (const group of groups.values()) {
      results.push(await measureClassic(ev, grid, { group, measure }));
    }
  }
  return mergeEqual(results.filter((result) => !isEmpty(result)));
}

function measuresOf(
  ev: Evaluation,
  { call, scalars, label, at }: Omit<HistogramCall, 'series'> & { at: Span },
): Measure[] {
  const unchanged = (labels: Labels) => labels;
  if (call.name === 'histogram_fraction') {
    const [lower, upper] = scalars as [Float64Array, Float64Array];
    return [
      {
        at,
        native: (histogram, step) => histogramFraction(lower[step]!, upper[step]!, histogram),
        classic: (buckets, step) => ({
          value: bucketFraction(lower[step]!, upper[step]!, buckets),
        }),
        relabel: unchanged,
      },
    ];
  }
  const first = call.name === 'histogram_quantiles' ? 2 : 0;
  return scalars.map((quantiles, index) => {
    noteQuantiles(ev, quantiles, withoutParens(call.args[first + index]!));
    return {
      at,
      native: (histogram, step) => histogramQuantile(quantiles[step]!, histogram),
      classic: (buckets, step) => bucketQuantile(quantiles[step]!, buckets),
      relabel: (labels) =>
        label === '' ? labels : withLabel(labels, label, quantileText(quantiles[0]!)),
    };
  });
}

/** In OpenMetrics' form, where a whole number has a fraction. */
function quantileText(q: number): string {
  return Number.isInteger(q) ? `${formatNumber(q)}.0` : formatNumber(q);
}

function noteQuantiles(ev: Evaluation, quantiles: Float64Array, at: Span): void {
  for (const q of quantiles) {
    if (q >= 0 && q <= 1) continue;
    ev.notes.warn(at, `quantile value should be between 0 and 1, got ${formatShort(q)}`);
  }
}

/** Classic buckets of one histogram. */
interface BucketGroup {
  readonly labels: Labels;
  /** Native histograms with the same labels, which make it ambiguous. */
  readonly natives: readonly GridSeries[];
  readonly buckets: { readonly upper: number; readonly series: GridSeries }[];
}

const bucketLabel = new Set(['le']);

function groupBuckets(
  ev: Evaluation,
  series: readonly GridSeries[],
  at: Span,
): Map<string, BucketGroup> {
  const groups = new Map<string, BucketGroup>();
  const nativesByKey = Map.groupBy(
    series.filter(({ kinds }) => kinds.includes(kind.histogram)),
    ({ labels }) => labelsKey(labels),
  );
  for (const one of series) {
    if (!one.kinds.includes(kind.float)) continue;
    const bound = labelValue(one.labels, 'le');
    const upper = parseBound(bound);
    if (upper === undefined) {
      const name = ev.options.delayedNameRemoval ? metricName(one.labels) : '';
      const text = 'bucket label "le" is missing or has a malformed value';
      ev.notes.warn(at, `${text} of ${JSON.stringify(bound)}${forMetric(name)}`);
      continue;
    }
    const labels = dropLabels(one.labels, bucketLabel);
    const key = labelsKey(labels);
    const natives = nativesByKey.get(key) ?? [];
    const group = groups.get(key) ?? { labels, natives, buckets: [] };
    group.buckets.push({ upper, series: one });
    groups.set(key, group);
  }
  return groups;
}

function parseBound(text: string): number | undefined {
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isNaN(value) ? undefined : value;
}

async function measureNative(
  ev: Evaluation,
  grid: Grid,
  {
    series,
    groups,
    measure,
  }: { series: GridSeries; groups: ReadonlyMap<string, BucketGroup>; measure: Measure },
): Promise<GridSeries> {
  const { delayedNameRemoval: delayed } = ev.options;
  const named = withoutName(series, delayed);
  const result = newSeries(measure.relabel(named.labels), grid.steps, named.dropName);
  const buckets = groups.get(labelsKey(series.labels))?.buckets ?? [];
  for (let step = 0; step < grid.steps; step++) {
    if (ev.isTurnOver()) await ev.breathe();
    const histogram = series.kinds[step] === kind.histogram && series.histograms?.[step];
    if (typeof histogram !== 'object') continue;
    const name = metricName(series.labels);
    if (buckets.some((bucket) => bucket.series.kinds[step] === kind.float)) {
      const text = 'vector contains a mix of classic and native histograms';
      ev.notes.warn(measure.at, `${text}${forMetric(delayed ? name : '')}`);
      continue;
    }
    const { value, nan } = measure.native(histogram, step);
    if (nan !== undefined) {
      ev.notes.info(measure.at, `${nanTexts[nan]}${forMetric(delayed ? name : '')}`);
    }
    setCell(result, step, value);
  }
  return result;
}

const nanTexts: Readonly<Record<NonNullable<Estimate['nan']>, string>> = {
  result: 'input to histogram_quantile has NaN observations, result is NaN',
  skew: 'input to histogram_quantile has NaN observations, result is skewed higher',
  excluded:
    'input to histogram_fraction has NaN observations, which are excluded from all fractions',
};

async function measureClassic(
  ev: Evaluation,
  grid: Grid,
  { group, measure }: { group: BucketGroup; measure: Measure },
): Promise<GridSeries> {
  const { delayedNameRemoval: delayed } = ev.options;
  const bare = newSeries(group.labels, grid.steps);
  const named = withoutName(bare, delayed);
  const result = newSeries(measure.relabel(named.labels), grid.steps, named.dropName);
  for (let step = 0; step < grid.steps; step++) {
    if (ev.isTurnOver()) await ev.breathe();
    if (group.natives.some(({ kinds }) => kinds[step] === kind.histogram)) continue;
    const buckets = group.buckets
      .filter(({ series }) => series.kinds[step] === kind.float)
      .map(({ upper, series }) => ({ upper, count: series.floats[step]! }));
    if (buckets.length === 0) continue;
    const { value, forced } = measure.classic(buckets, step);
    if (forced !== undefined) {
      const timeMs = timeOf(grid, step);
      const name = delayed ? metricName(group.labels) : '';
      const times = { fromMs: timeMs, untilMs: timeMs, count: 1 };
      ev.notes.forcedMonotonicity(measure.at, name, { ...forced, ...times });
    }
    setCell(result, step, value);
  }
  return result;
}
