/** Evaluates PromQL over the samples of the store, for readers and for rules. */
import { AppError } from '../model/errors.ts';
import type { ReadableStream } from '../model/plan.ts';
import type { ReadCaller } from '../model/read-route.ts';
import { QueryError } from '../promql/errors.ts';
import type { Query } from '../promql/evaluation.ts';
import { type QueryAnswer, runQuery } from '../promql/query.ts';
import type { Store } from '../store/port.ts';
import { toAppError } from './parse-promql.ts';
import type { MetricsLimits } from './plan.ts';
import { createSampleSource } from './sample-source.ts';

export interface QueryInStreams extends Query {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
  /** Undefined = 5 minutes, and the interval more where samples are downsampled. */
  readonly lookbackMs?: number | undefined;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** The query ends when this reader disconnects; absent for rules, which have no reader. */
  readonly caller?: Pick<ReadCaller, 'disconnected'>;
  /** Whether the answer counts samples per step; absent = not. */
  readonly countsLooks?: boolean;
}

const defaultLookbackMs = 300_000;
const subqueryStepMs = 60_000;

/** @throws AppError `execution`, `query_timeout`, `unavailable` */
export async function evaluateQuery(
  store: Pick<Store, 'sampleColumns'>,
  {
    accountId,
    streams,
    lookbackMs,
    deadline,
    caller,
    countsLooks = false,
    ...query
  }: QueryInStreams,
  limits: Pick<MetricsLimits, 'maxReadSeries' | 'maxReadSamples' | 'maxQuerySamples'>,
): Promise<QueryAnswer> {
  const { maxReadSeries: maxSeries, maxReadSamples: maxSamples } = limits;
  const scope = { accountId, streams, maxSeries, maxSamples };
  const source = createSampleSource(store, scope, caller);
  try {
    return await runQuery(query, source, {
      lookbackMs: lookbackMs ?? defaultLookbackMs,
      olderLookbacks: lookbackMs === undefined ? olderLookbacks(streams) : [],
      subqueryStepMs,
      maxSamples: limits.maxQuerySamples,
      countsLooks,
      delayedNameRemoval: false,
      deadline,
      get signal() {
        return caller?.disconnected;
      },
    });
  } catch (error) {
    if (error instanceof QueryError) throw toAppError(error);
    if (!(error instanceof AppError) || error.code !== 'execution') throw error;
    // The reads are over a limit: clients look for the text of Prometheus.
    const text = 'query processing would load too many samples into memory in query execution';
    throw new AppError('execution', `${text}: ${error.message}`, { cause: error });
  }
}

/** Samples of old times are up to an interval farther apart than they were sent. */
function olderLookbacks(streams: readonly ReadableStream[]) {
  return streams
    .flatMap(({ downsampled = [] }) => downsampled)
    .map(({ beforeMs, intervalMs }) => ({
      beforeMs,
      lookbackMs: defaultLookbackMs + intervalMs,
    }));
}
