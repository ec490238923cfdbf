/**
 * A read of metrics as plain data, and its result. Times are Unix ms; ranges include both ends, as
 * in Prometheus.
 */
import type { ReadableStream } from './plan.ts';

/** The label that holds the name of a metric. */
export const metricNameLabel = '__name__';

export type Label = readonly [name: string, value: string];

export type MatcherType = 'equal' | 'notEqual' | 'matches' | 'notMatches';

/**
 * A condition on one label; an absent label equals "". Patterns are RE2, match the whole value, and
 * `.` matches newlines.
 */
export interface LabelMatcher {
  readonly name: string;
  readonly type: MatcherType;
  readonly value: string;
}

/** All must match. */
export type Selector = readonly LabelMatcher[];

export interface SeriesPlan {
  readonly accountId: string;
  /** Empty = no stream. */
  readonly streams: readonly ReadableStream[];
  /** A series is selected by any of these; empty = every series. */
  readonly selectors: readonly Selector[];
  /** Series with a sample on any UTC day of this range; both within Int64, from <= until. */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** Maximum of results; the rest is cut off. */
  readonly limit: number;
}

export interface SamplesPlan {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
  readonly selectors: readonly Selector[];
  /** Range of sample times. */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** More series or samples than this fail with an AppError. */
  readonly maxSeries: number;
  readonly maxSamples: number;
}

export interface MetadataPlan {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
  /** Undefined = all metrics. */
  readonly metric: string | undefined;
  readonly limit: number;
}

export interface MetricMetadata {
  /** Name of the metric family. */
  readonly name: string;
  /** `counter`, `gauge`, …; `unknown` if not sent. */
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

/** A series with its samples. */
export interface SeriesSamples {
  readonly labels: readonly Label[];
  /** Unix ms, ascending. */
  readonly times: BigInt64Array;
  /** Bits of the doubles, parallel to `times`: as a number, a NaN would lose its payload. */
  readonly values: BigUint64Array;
  /** Native histograms by time: `prometheus.Histogram` as sent. */
  readonly histograms: readonly { readonly timeMs: bigint; readonly message: Uint8Array }[];
}

/** Samples from one index to before another one; arrays may be longer, and shared. */
export interface SampleRange {
  /** Unix ms, ascending; exact up to 2^53. */
  readonly times: Float64Array;
  /** Parallel to `times`. Stale markers keep their bits. */
  readonly values: Float64Array;
  readonly from: number;
  readonly to: number;
  /** Whether any value may be a stale marker; absent = true. */
  readonly hasStale?: boolean | undefined;
  /** Ascending indexes of all values that are lower than the one before; absent = unknown. */
  readonly falls?: readonly number[] | undefined;
}

/** A series with its samples as numbers. The arrays belong to the store. */
export interface SeriesColumns extends SampleRange {
  /** Sorted by name, without empty values; the same array while the store keeps the series. */
  readonly labels: readonly Label[];
  readonly histograms: SeriesSamples['histograms'];
}

export interface Exemplar {
  readonly seriesLabels: readonly Label[];
  readonly labels: readonly Label[];
  readonly timeMs: bigint;
  readonly value: number;
}
