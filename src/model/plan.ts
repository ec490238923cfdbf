/**
 * What a read asks of the store, as plain data: the stream spine makes plans, the store turns them
 * into SQL.
 */
import type { EqualityField, FilterField } from './log-fields.ts';
import type { LogPosition } from './log-id.ts';

/** One stream that may be read, with the receipt time after which its rows are still kept. */
export interface ReadableStream {
  readonly streamId: string;
  /** Unix ns; rows received before are hidden (retention, deleted data). */
  readonly receivedFromNanos: bigint;
  /** Unix ns; what was received until then was deleted, and is hidden by the limit above too. */
  readonly deletedUntilNanos?: bigint;
}

export interface SearchTerm {
  /** Not empty; matched as a substring of the message, without case. */
  readonly text: string;
  readonly exclude: boolean;
}

/** The same filter means the same rows for list, histogram, facets and tail. */
export interface LogFilter {
  readonly accountId: string;
  /** Empty = nothing can match. */
  readonly streams: readonly ReadableStream[];
  /** Event time, Unix ns, half-open [from, until). */
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
  readonly equal: ReadonlyMap<EqualityField, readonly string[]>;
  readonly labels: readonly LabelPair[];
  readonly search: readonly SearchTerm[];
  /** A log that has any of these does not match. Absent = none. */
  readonly excluded?: {
    readonly equal: ReadonlyMap<EqualityField, readonly string[]>;
    readonly labels: readonly LabelPair[];
  };
}

export interface LabelPair {
  readonly key: string;
  readonly value: string;
}

export interface ListPlan {
  readonly filter: LogFilter;
  readonly limit: number;
  /**
   * `older`: newest first, strictly before `position` where given. `newer`: the oldest `limit` rows
   * strictly after `position` and with time <= `untilWatermarkNanos`; the result is newest first
   * all the same.
   */
  readonly direction: 'older' | 'newer';
  readonly position: LogPosition | undefined;
  readonly untilWatermarkNanos: bigint | undefined;
}

/** One step back through all that match, from the newest to the oldest. */
export interface WalkPlan {
  readonly filter: LogFilter;
  /** Logs that are wanted of it at most. */
  readonly limit: number;
  /** Where the step before ended; undefined = at the newest. */
  readonly from: WalkPoint | undefined;
}

/** Where a walk goes on, and at which pace; made by the store, for the next step alone. */
export interface WalkPoint {
  /** Only what is strictly older is still to come; undefined = everything. */
  readonly position: LogPosition | undefined;
  /** Unix ns, excluded; undefined = no end. */
  readonly untilNanos: bigint | undefined;
  /** How much of history a statement looks at, and how much it may at most. */
  readonly widthNanos: bigint;
  readonly maxWidthNanos: bigint;
  /** Logs that a statement asks for. */
  readonly rows: number;
}

export interface WalkStep {
  /** Newest first; may be empty. */
  readonly logs: readonly LogRecord[];
  /** Undefined once there is nothing older. */
  readonly next: WalkPoint | undefined;
}

export interface HistogramPlan {
  readonly filter: LogFilter;
  /** Unix ms, half-open; bucket i starts at start + floor(i * (end - start) / buckets). */
  readonly startMs: number;
  readonly endMs: number;
  readonly buckets: number;
  readonly groupBy: 'severity' | undefined;
}

export interface HistogramResult {
  readonly counts: readonly number[];
  /** One list of counts per group value; only with `groupBy`. */
  readonly groups: ReadonlyMap<string, readonly number[]> | undefined;
}

export interface FacetsPlan {
  readonly filter: LogFilter;
  readonly fields: readonly FilterField[];
  readonly topK: number;
}

export interface FacetsResult {
  readonly field: FilterField;
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Rows that have none of `values`. */
  readonly other: number;
  readonly total: number;
}

export interface Kubernetes {
  readonly cluster: string;
  readonly namespace: string;
  readonly node: string;
  readonly pod: string;
  readonly container: string;
  readonly deployment: string;
}

/** A log as it is read back; the wire shape of the list. */
export interface LogRecord {
  readonly logId: string;
  /** ISO 8601 UTC, ms. */
  readonly timestamp: string;
  /** Unix ns in decimal digits. */
  readonly timestampNanos: string;
  readonly observedTimestamp: string;
  /** When Weir took it in; ISO 8601 UTC, ms. */
  readonly receivedAt: string;
  readonly streamId: string;
  readonly receiverId: string;
  readonly severity: string;
  readonly severityNumber: number;
  readonly message: string;
  readonly serviceName: string;
  readonly serviceNamespace: string;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly kubernetes: Kubernetes;
  readonly traceId: string;
  readonly spanId: string;
  /** W3C trace flags; 0 where the sender gave none. */
  readonly traceFlags: number;
  /** OpenTelemetry's name of the kind of event; empty = none. */
  readonly eventName: string;
  /** The instrumentation scope, such as a logger; empty = none. */
  readonly scope: { readonly name: string; readonly version: string };
}
