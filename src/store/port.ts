/** The port of the store: the drain inserts, `stream/` and `metrics/` read. */
import type { ArrivalRange, Arrivals, ArrivalsPlan, LateRange } from '../model/arrival.ts';
import type { ReadCaller } from '../model/read-route.ts';
import type { Layout, StampedBatch } from '../model/batch.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type {
  Exemplar,
  Label,
  MetadataPlan,
  MetricMetadata,
  SamplesPlan,
  SeriesColumns,
  SeriesPlan,
  SeriesSamples,
} from '../model/metric-plan.ts';
import type {
  FacetsPlan,
  FacetsResult,
  FieldsPlan,
  FieldsResult,
  FieldValuesPlan,
  FieldValuesResult,
  HistogramPlan,
  HistogramResult,
  ListPlan,
  LogRecord,
  Scan,
  StatsPlan,
  StatsResult,
  WalkPlan,
  WalkStep,
} from '../model/plan.ts';
import type { LateRows } from '../model/rules.ts';
import type { ComparisonPlan, ComparisonResult, MessagesResult } from '../model/sample-plan.ts';

/**
 * - `data`: the rows are invalid, or take more memory than an insert may: a retry fails too;
 * - `unavailable`: the store is unreachable or over a limit, and nothing of the insert still runs;
 * - `unknown`: no response (timeout, lost connection); rows may appear until `fence()` resolves;
 * - `superseded`: a later holder has fenced the shard, and inserts of this one are refused.
 */
export type InsertFailure = 'data' | 'unavailable' | 'unknown' | 'superseded';

export class StoreInsertError extends Error {
  override readonly name = 'StoreInsertError';
  readonly failure: InsertFailure;

  constructor(failure: InsertFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

export interface Store {
  /**
   * Resolves once all rows are durable. Mode `missing` inserts only the rows of these batches that
   * the store does not have.
   * @param token of the holder that inserts; all batches are of its shard.
   * @throws StoreInsertError
   */
  insert(
    layout: Layout,
    batches: readonly StampedBatch[],
    mode: 'all' | 'missing',
    token: FencingToken,
  ): Promise<void>;

  /**
   * Resolves once no earlier insert for this shard can take effect: neither one of this holder
   * that got no response, nor one of an earlier holder.
   * @throws StoreInsertError `superseded`; any error of the store
   */
  fence(token: FencingToken): Promise<void>;

  /**
   * How often faults in its code have ended an engine that only this process uses; 0 for others.
   * After `fence`, it counts those of all earlier inserts.
   */
  crashes(): number;

  // Reads: an abort of `signal` kills the running statement. `scanned` counts what they read.

  /** Logs in listing order, at most `plan.limit`, without gaps. @throws AppError */
  list(plan: ListPlan, signal?: AbortSignal, scanned?: Scan): Promise<LogRecord[]>;
  /**
   * The next logs of a walk, few enough for memory at any size. All steps together return each log
   * once. Each step has the limits of one read. @throws AppError
   */
  walk(plan: WalkPlan, signal: AbortSignal): Promise<WalkStep>;
  /**
   * The first logs of a range in order of arrival, at most `plan.limit` and `plan.maxBytes`.
   * @throws AppError
   */
  arrivals(plan: ArrivalsPlan): Promise<Arrivals>;
  /** @throws AppError */
  countArrivals(range: ArrivalRange): Promise<number>;
  /** A sample that was sent again may count twice. @throws AppError */
  lateRows(range: LateRange): Promise<LateRows>;
  /** @throws AppError */
  histogram(plan: HistogramPlan, signal?: AbortSignal, scanned?: Scan): Promise<HistogramResult>;
  /** @throws AppError */
  facets(plan: FacetsPlan, signal?: AbortSignal, scanned?: Scan): Promise<FacetsResult[]>;
  /** @throws AppError */
  fields(plan: FieldsPlan, signal?: AbortSignal, scanned?: Scan): Promise<FieldsResult>;
  /** @throws AppError */
  fieldValues(
    plan: FieldValuesPlan,
    signal?: AbortSignal,
    scanned?: Scan,
  ): Promise<FieldValuesResult>;
  /** @throws AppError */
  stats(plan: StatsPlan, signal?: AbortSignal, scanned?: Scan): Promise<StatsResult>;
  /** Of a sample. @throws AppError */
  messages(plan: HistogramPlan, signal?: AbortSignal, scanned?: Scan): Promise<MessagesResult>;
  /** Of two samples. @throws AppError */
  compare(plan: ComparisonPlan, signal?: AbortSignal, scanned?: Scan): Promise<ComparisonResult>;

  /**
   * Samples of the plan's range: of those with one time, the last one written; series sorted by
   * labels, samples by time. @throws AppError
   */
  samples(plan: SamplesPlan, signal?: AbortSignal): Promise<SeriesSamples[]>;
  /**
   * The same as numbers, for evaluation. Recent samples may come from memory, at once.
   * @throws AppError
   */
  sampleColumns(
    plan: SamplesPlan,
    caller?: Pick<ReadCaller, 'disconnected'>,
  ): SeriesColumns[] | Promise<SeriesColumns[]>;
  /** Label sets, sorted by their labels. @throws AppError */
  series(plan: SeriesPlan, signal?: AbortSignal): Promise<(readonly Label[])[]>;
  /** Sorted. @throws AppError */
  labelNames(plan: SeriesPlan, signal?: AbortSignal): Promise<string[]>;
  /** Sorted. @throws AppError */
  labelValues(plan: SeriesPlan, name: string, signal?: AbortSignal): Promise<string[]>;
  /** Sorted by name. @throws AppError */
  metricMetadata(plan: MetadataPlan, signal?: AbortSignal): Promise<MetricMetadata[]>;
  /** Sorted by series, then time. @throws AppError */
  exemplars(plan: SamplesPlan, signal?: AbortSignal): Promise<Exemplar[]>;

  /** Deletes a stream's rows in the background. @param untilNanos of receipt; absent = all */
  deleteStreamData(accountId: string, streamId: string, untilNanos?: bigint): Promise<void>;

  /** Whether the store answers a trivial query within 2 s. */
  ping(): Promise<boolean>;

  close(): Promise<void>;
}
