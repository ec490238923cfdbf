/**
 * The store as the spines see it: the drain inserts, the stream reads. Implementations only
 * translate and execute.
 */
import type { ArrivalRange, Arrivals, ArrivalsPlan } from '../model/arrival.ts';
import type { Layout, StampedBatch } from '../model/batch.ts';
import type {
  Exemplar,
  MetadataPlan,
  MetricMetadata,
  SamplesPlan,
  SeriesPlan,
  SeriesSamples,
} from '../model/metric-plan.ts';
import type { Label } from '../model/metric-plan.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type {
  FacetsPlan,
  FacetsResult,
  HistogramPlan,
  HistogramResult,
  ListPlan,
  LogRecord,
  WalkPlan,
  WalkStep,
} from '../model/plan.ts';

/**
 * - `data`: the store looked at the rows and will never take them;
 * - `unavailable`: it is away or over a limit, and certainly took nothing that is still running;
 * - `unknown`: no answer came (timeout, lost connection): rows may still land until `fence()`
 *   resolves;
 * - `superseded`: a later holder of the shard has fenced; nothing of this one is taken any more.
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
   * Resolves once all rows are stored durably. Mode `missing` first asks which rows of these
   * batches exist (bounded by batch id and partition) and inserts only the others.
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
   * Resolves once no earlier insert for this shard can land any more: neither one of this holder
   * that got no answer, nor any of the holders before.
   * @throws StoreInsertError `superseded`, or any error where the store cannot say
   */
  fence(token: FencingToken): Promise<void>;

  // Reads: once `signal` is aborted, a statement that runs is killed and none is begun.

  /**
   * Log records in listing order, at most `plan.limit`; complete within the plan's range. @throws
   * AppError
   */
  list(plan: ListPlan, signal?: AbortSignal): Promise<LogRecord[]>;
  /**
   * Some of the logs at a walk's point, so few that they fit into memory whatever their sizes; all
   * steps together leave none out and give none twice. A step has the limits of a read to itself.
   * @throws AppError
   */
  walk(plan: WalkPlan, signal: AbortSignal): Promise<WalkStep>;
  /**
   * The first logs of a range in the order in which they arrived, at most `plan.limit` and so few
   * that they keep to `plan.maxBytes`. @throws AppError
   */
  arrivals(plan: ArrivalsPlan): Promise<Arrivals>;
  /** How many logs there are in a range. @throws AppError */
  countArrivals(range: ArrivalRange): Promise<number>;
  /** @throws AppError */
  histogram(plan: HistogramPlan, signal?: AbortSignal): Promise<HistogramResult>;
  /** @throws AppError */
  facets(plan: FacetsPlan, signal?: AbortSignal): Promise<FacetsResult[]>;

  /**
   * What was measured within the plan's range: each sample once, the last one written of those at
   * one time; series sorted by their labels, samples by time. @throws AppError
   */
  samples(plan: SamplesPlan, signal?: AbortSignal): Promise<SeriesSamples[]>;
  /** Label sets, sorted by their labels. @throws AppError */
  series(plan: SeriesPlan, signal?: AbortSignal): Promise<(readonly Label[])[]>;
  /** Names of labels that any of the series has, sorted. @throws AppError */
  labelNames(plan: SeriesPlan, signal?: AbortSignal): Promise<string[]>;
  /** Values of one label that any of the series has, sorted. @throws AppError */
  labelValues(plan: SeriesPlan, name: string, signal?: AbortSignal): Promise<string[]>;
  /** Type, unit and help, sorted by name. @throws AppError */
  metricMetadata(plan: MetadataPlan, signal?: AbortSignal): Promise<MetricMetadata[]>;
  /** Sorted by series, then time. @throws AppError */
  exemplars(plan: SamplesPlan, signal?: AbortSignal): Promise<Exemplar[]>;

  /**
   * Deletes a stream's rows received before `untilNanos`; returns when the store has accepted the
   * work.
   */
  deleteStreamData(accountId: string, streamId: string, untilNanos: bigint): Promise<void>;

  /** True when the store answers a trivial query in time. */
  ping(): Promise<boolean>;

  close(): Promise<void>;
}
