/**
 * What a read of metrics asks of the store, and what it gets, as plain data. Times are Unix ms and
 * ranges hold both of their ends, as in Prometheus.
 */
import type { ReadableStream } from './plan.ts';

export type Label = readonly [name: string, value: string];

export type MatcherType = 'equal' | 'notEqual' | 'matches' | 'notMatches';

/**
 * Of one label; a label that a series does not have counts as "". Patterns are RE2, match the whole
 * value, and their `.` matches newlines.
 */
export interface LabelMatcher {
  readonly name: string;
  readonly type: MatcherType;
  readonly value: string;
}

/** All of these. */
export type Selector = readonly LabelMatcher[];

export interface SeriesPlan {
  readonly accountId: string;
  /** Empty = nothing can match. */
  readonly streams: readonly ReadableStream[];
  /** A series is meant when any of them fits it; empty = every series. */
  readonly selectors: readonly Selector[];
  /**
   * Series with a sample on one of the days (UTC) of this range; both within Int64, from <= until.
   */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** More than this many answers are cut off. */
  readonly limit: number;
}

export interface SamplesPlan {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
  readonly selectors: readonly Selector[];
  /** Samples of exactly this range. */
  readonly fromMs: bigint;
  readonly untilMs: bigint;
  /** More series, or more samples, than this are over the limit of one read, an AppError. */
  readonly maxSeries: number;
  readonly maxSamples: number;
}

export interface MetadataPlan {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
  /** Undefined = of every metric. */
  readonly metric: string | undefined;
  readonly limit: number;
}

export interface MetricMetadata {
  /** Of the metric family. */
  readonly name: string;
  /** `counter`, `gauge`, …; `unknown` where none was sent. */
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

/** A series with what was measured of it. */
export interface SeriesSamples {
  readonly labels: readonly Label[];
  /** Unix ms, ascending. */
  readonly times: BigInt64Array;
  /** Bits of the doubles, beside `times`; as numbers, a NaN would lose its meaning. */
  readonly values: BigUint64Array;
  /** Native histograms, by time: the message `prometheus.Histogram` as it was sent. */
  readonly histograms: readonly { readonly timeMs: bigint; readonly message: Uint8Array }[];
}

export interface Exemplar {
  readonly seriesLabels: readonly Label[];
  readonly labels: readonly Label[];
  readonly timeMs: bigint;
  readonly value: number;
}
