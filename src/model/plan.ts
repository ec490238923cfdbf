/** A read of logs as plain data: stream/ creates plans, store/sql turns them into SQL. */
import type { EqualityField, FieldName, GroupField } from './log-fields.ts';
import type { LogPosition } from './log-id.ts';

/** A readable stream, with the time of receipt from which its rows are visible. */
export interface ReadableStream {
  readonly streamId: string;
  /** Unix ns; earlier rows are hidden by retention or deletion. */
  readonly receivedFromNanos: bigint;
  /** Unix ns; rows received up to this time were deleted. `fromNanos` hides them too. */
  readonly deletedUntilNanos?: bigint;
  /** Before each Unix ms, samples may be this far apart; absent = nowhere. */
  readonly downsampled?: readonly { readonly beforeMs: number; readonly intervalMs: number }[];
}

export interface SearchTerm {
  /** Not empty; a substring of the message, ignoring case. */
  readonly text: string;
  readonly exclude: boolean;
}

/** The filter shared by list, histogram, facets and tail. */
export interface LogFilter {
  readonly accountId: string;
  /** Empty = no stream. */
  readonly streams: readonly ReadableStream[];
  /** Event time, Unix ns, half-open [from, until). */
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
  readonly equal: ReadonlyMap<EqualityField, readonly string[]>;
  readonly labels: readonly LabelPair[];
  readonly search: readonly SearchTerm[];
  /** 1 to 24; logs with a lower severity number or none do not match. Absent = all. */
  readonly minSeverity?: number | undefined;
  /** All must hold, besides everything else. Absent = none. */
  readonly conditions?: readonly LogCondition[];
  /** Logs with any of these do not match. Absent = none. */
  readonly excluded?: {
    readonly equal: ReadonlyMap<EqualityField, readonly string[]>;
    readonly labels: readonly LabelPair[];
  };
}

/** What the other parts of a filter cannot say. A log without the value fails every test. */
export type LogCondition =
  | { readonly kind: 'and' | 'or'; readonly items: readonly LogCondition[] }
  | { readonly kind: 'not'; readonly item: LogCondition }
  | { readonly kind: 'equal'; readonly field: EqualityField; readonly values: readonly string[] }
  | { readonly kind: 'stream'; readonly streamIds: readonly string[] }
  | { readonly kind: 'label'; readonly pair: LabelPair }
  /** Pieces in this order in the message, ignoring case. */
  | { readonly kind: 'search'; readonly pieces: readonly string[] }
  | { readonly kind: 'test'; readonly target: LogTarget; readonly test: LogTest };

export type LogTarget =
  | { readonly kind: 'field'; readonly field: FieldName | 'severityNumber' }
  | { readonly kind: 'label'; readonly key: string }
  | { readonly kind: 'message' };

export type LogTest =
  /** The whole value, with anything between the pieces. */
  | { readonly op: 'like'; readonly pieces: readonly string[] }
  /** Anywhere in the value; RE2. */
  | { readonly op: 'regex'; readonly regex: string }
  /** A number compares with values that are finite numbers, a text by bytes. */
  | { readonly op: '<' | '<=' | '>' | '>='; readonly value: number | string }
  | { readonly op: 'exists' };

export interface LabelPair {
  readonly key: string;
  readonly value: string;
}

export interface ListPlan {
  readonly filter: LogFilter;
  readonly limit: number;
  /**
   * `older`: newest first, strictly before `position` if given. `newer`: the oldest `limit` rows
   * strictly after `position` with time <= `untilWatermarkNanos`; sorted newest first as well.
   */
  readonly direction: 'older' | 'newer';
  readonly position: LogPosition | undefined;
  readonly untilWatermarkNanos: bigint | undefined;
  /** Paths of the record beside its id and time, such as `kubernetes.pod`; undefined = all. */
  readonly paths?: readonly string[] | undefined;
}

/** One step back through all matches, from newest to oldest. */
export interface WalkPlan {
  readonly filter: LogFilter;
  /** Maximum of logs in this step. */
  readonly limit: number;
  /** End of the previous step; undefined = the newest log. */
  readonly from: WalkPoint | undefined;
}

/** State of a walk for its next step; created by the store. */
export interface WalkPoint {
  /** Only strictly older logs remain; undefined = all. */
  readonly position: LogPosition | undefined;
  /** Unix ns, exclusive; undefined = unbounded. */
  readonly untilNanos: bigint | undefined;
  /** How much of history a statement scans, and its maximum. */
  readonly widthNanos: bigint;
  readonly maxWidthNanos: bigint;
  /** Logs per statement. */
  readonly rows: number;
}

export interface WalkStep {
  /** Newest first; may be empty. */
  readonly logs: readonly LogRecord[];
  /** Undefined at the end. */
  readonly next: WalkPoint | undefined;
}

/** Unix ms, half-open; bucket i starts at start + floor(i * (end - start) / buckets). */
export interface Buckets {
  readonly startMs: number;
  readonly endMs: number;
  readonly buckets: number;
}

export interface HistogramPlan extends Buckets {
  readonly filter: LogFilter;
  readonly groupBy: GroupField | undefined;
  /** Groups in the result, those with the most logs. */
  readonly topK: number;
}

export interface HistogramResult {
  readonly counts: readonly number[];
  /** Lists of counts by value, the most frequent first; with `groupBy` only. */
  readonly groups: ReadonlyMap<string, readonly number[]> | undefined;
}

export interface FacetsPlan {
  readonly filter: LogFilter;
  readonly fields: readonly GroupField[];
  readonly topK: number;
}

export interface FacetsResult {
  readonly field: GroupField;
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Rows without any of `values`. */
  readonly other: number;
  readonly total: number;
}

/** The range of the filter is within that of the buckets. */
export interface StatsPlan extends Buckets {
  readonly filter: LogFilter;
  /** Not empty; the first one ranks the groups. */
  readonly stats: readonly Stat[];
  readonly by: readonly GroupField[];
  /** Groups in the result; the logs of all others are one more. */
  readonly limit: number;
  /** Whether quantiles are of all logs, however many. */
  readonly isExact: boolean;
}

/** `count` of logs, or of those that have the field; of numbers where the value is one. */
export type Stat =
  | { readonly op: 'count'; readonly field: GroupField | undefined }
  | { readonly op: 'sum' | 'avg' | 'min' | 'max' | 'uniq'; readonly field: GroupField }
  | { readonly op: 'quantile'; readonly field: GroupField; readonly quantile: number };

export interface StatsResult {
  /** By rank; the rest comes last. */
  readonly groups: readonly StatsGroup[];
  /** Whether quantiles are exact, not of a sample. */
  readonly isExact: boolean;
  /** Logs in the sample; absent = all, with 8192 values of each group and step. */
  readonly sampled?: number;
}

export interface StatsGroup {
  /** In the order of `by`; undefined = the rest. */
  readonly values: readonly string[] | undefined;
  /** In order; buckets without logs are absent. */
  readonly points: readonly StatsPoint[];
}

export interface StatsPoint {
  readonly bucket: number;
  /** In the order of `stats`; null = no log has a number. */
  readonly values: readonly (number | null)[];
}

/** Fields of the newest matching logs. */
export interface FieldsPlan {
  readonly filter: LogFilter;
  readonly limit: number;
}

export interface FieldCount {
  readonly field: GroupField;
  /** Logs that have a value. */
  readonly count: number;
}

interface Sampled {
  /** Matching logs that were counted. */
  readonly sampled: number;
  /** Whether these are all. */
  readonly isExact: boolean;
}

export interface FieldsResult extends Sampled {
  /** The most frequent first. */
  readonly fields: readonly FieldCount[];
}

/** Values of a field in the newest matching logs. */
export interface FieldValuesPlan {
  readonly filter: LogFilter;
  readonly field: GroupField;
  /** Of the values, ignoring case; empty = all. */
  readonly prefix: string;
  readonly limit: number;
}

export interface FieldValuesResult extends Sampled {
  /** The most frequent first; none is empty. */
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

export interface Kubernetes {
  readonly cluster: string;
  readonly namespace: string;
  readonly node: string;
  readonly pod: string;
  readonly container: string;
  readonly deployment: string;
}

/** A log as it is read; the wire format of the list. */
export interface LogRecord {
  readonly logId: string;
  /** ISO 8601 UTC, ms. */
  readonly timestamp: string;
  /** Unix ns as decimal digits. */
  readonly timestampNanos: string;
  readonly observedTimestamp: string;
  /** Time of receipt, ISO 8601 UTC, ms. */
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
  /** W3C trace flags; 0 if not sent. */
  readonly traceFlags: number;
  /** OpenTelemetry event name; empty = none. */
  readonly eventName: string;
  /** Instrumentation scope, such as a logger; empty = none. */
  readonly scope: { readonly name: string; readonly version: string };
}

/** What the store read to answer, besides what it keeps in memory. Each statement adds to it. */
export interface Scan {
  rows: number;
  /** Uncompressed. */
  bytes: number;
}
