/** Native histograms as text and as the API shows them. */
import {
  allBuckets,
  type Bucket,
  type Histogram,
  negativeBuckets,
  positiveBuckets,
  zeroBucket,
} from './histogram.ts';
import { formatSample, formatShort } from '../parser/numbers.ts';

/** As in `{count:2, sum:3.5, (1,2]:2}`. Unlike in JSON, the zero bucket may count less than 0. */
export function histogramText(histogram: Histogram): string {
  const all = [
    ...negativeBuckets(histogram).reverse(),
    zeroBucket(histogram),
    ...positiveBuckets(histogram),
  ];
  const buckets = all.filter(({ count }) => count !== 0);
  const parts = buckets.map((bucket) => {
    const open = bucket.lowerInclusive ? '[' : '(';
    const close = bucket.upperInclusive ? ']' : ')';
    const bounds = `${formatShort(bucket.lower)},${formatShort(bucket.upper)}`;
    return `${open}${bounds}${close}:${formatShort(bucket.count)}`;
  });
  const count = `count:${formatShort(histogram.count)}`;
  return `{${[count, `sum:${formatShort(histogram.sum)}`, ...parts].join(', ')}}`;
}

export interface HistogramJson {
  readonly count: string;
  readonly sum: string;
  readonly buckets?: readonly (readonly [number, string, string, string])[];
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/#native-histograms */
export function histogramJson(histogram: Histogram): HistogramJson {
  const buckets = allBuckets(histogram)
    .filter(({ count }) => count !== 0)
    .map((bucket) => {
      const { lower, upper, count } = bucket;
      const numbers = [formatSample(lower), formatSample(upper), formatSample(count)] as const;
      return [boundaryRule(bucket), ...numbers] as const;
    });
  const totals = { count: formatSample(histogram.count), sum: formatSample(histogram.sum) };
  return buckets.length === 0 ? totals : { ...totals, buckets };
}

/** 0 = open left, 1 = open right, 2 = open, 3 = closed. */
function boundaryRule({ lowerInclusive, upperInclusive }: Bucket): number {
  if (lowerInclusive) return upperInclusive ? 3 : 1;
  return upperInclusive ? 0 : 2;
}
