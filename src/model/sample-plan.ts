/** Reads of a bounded sample of logs as plain data. */
import type { GroupField } from './log-fields.ts';
import type { LogPosition } from './log-id.ts';
import type { HistogramPlan } from './plan.ts';

/** A random sample of the logs of a plan, or all of them where they are no more than `maxRows`. */
export interface LogSample {
  readonly plan: HistogramPlan;
  /** Logs that match. */
  readonly total: number;
  readonly maxRows: number;
}

/** The sampled messages, grouped by what is left of them without numbers and the like. */
export interface MessagesResult {
  /** The most frequent ones. */
  readonly groups: readonly SampledMessages[];
  /** Logs in the sample, with those outside of `groups`. */
  readonly sampled: number;
  /** Logs that match; equal to `sampled` where the sample is complete. */
  readonly total: number;
}

export interface SampledMessages {
  readonly masked: string;
  readonly count: number;
  /** Some of them, cut. */
  readonly texts: readonly string[];
  readonly severities: readonly (readonly [severity: string, count: number])[];
  /** By bucket of the plan. */
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
  readonly firstNanos: bigint;
  readonly last: LogPosition;
  /** The message at `last`, cut. */
  readonly lastText: string;
}

/** Samples of the logs of two plans. */
export interface ComparisonPlan {
  readonly selection: HistogramPlan;
  readonly baseline: HistogramPlan;
}

/** Logs of the selection, and of the baseline. */
export type SideCounts = readonly [selection: number, baseline: number];

export interface ComparisonResult {
  /** Those of each field and label whose shares differ most. */
  readonly values: readonly ComparedValue[];
  /** Values that occur often enough to be compared, with those outside of `values`. */
  readonly tested: number;
  readonly sampled: SideCounts;
  /** Logs that match; equal to `sampled` where both samples are complete. */
  readonly total: SideCounts;
}

export interface ComparedValue {
  readonly field: GroupField;
  readonly value: string;
  readonly counts: SideCounts;
}
