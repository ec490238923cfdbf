/** Evaluates PromQL over the samples of the store, for readers and for rules. */
import { AppError } from '../model/errors.ts';
import type { SamplesPlan, SeriesColumns } from '../model/metric-plan.ts';
import type { ReadableStream } from '../model/plan.ts';
import type { ReadCaller } from '../model/read-route.ts';
import { QueryError } from '../promql/errors.ts';
import type { Query } from '../promql/evaluation.ts';
import { type QueryAnswer, runQuery } from '../promql/query.ts';
import { noTimes, type SampleSeries, type SampleSource } from '../promql/source.ts';
import type { Store } from '../store/port.ts';
import { toAppError } from './parse-promql.ts';
import type { MetricsLimits } from './plan.ts';
import { decodeHistogram } from './native-histogram.ts';

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

/** What the reads of one query have in common. */
type ReadScope = Pick<SamplesPlan, 'accountId' | 'streams' | 'maxSeries' | 'maxSamples'>;

/** Beyond the times of any sample. */
const lowestMs = -(2 ** 53);
const highestMs = 2 ** 53;

function createSampleSource(
  store: Pick<Store, 'sampleColumns'>,
  scope: ReadScope,
  caller: Pick<ReadCaller, 'disconnected'> | undefined,
): SampleSource {
  return {
    select(matchers, { fromMs, untilMs }) {
      const from = Math.max(fromMs, lowestMs);
      const until = Math.min(untilMs, highestMs);
      if (from > until) return [];
      const range = { fromMs: BigInt(Math.ceil(from)), untilMs: BigInt(Math.floor(until)) };
      const selectors = matchers.length === 0 ? [] : [matchers];
      const found = store.sampleColumns({ ...scope, selectors, ...range }, caller);
      if (found instanceof Promise) return found.then((series) => series.map(toSampleSeries));
      return found.map(toSampleSeries);
    },
  };
}

const noHistograms: SampleSeries['histograms'] = [];

function toSampleSeries(series: SeriesColumns): SampleSeries {
  // Without spreading, which takes ten times as long.
  const { labels, times, values, from, to, hasStale, falls, histograms: messages } = series;
  let histogramTimes = noTimes;
  let histograms = noHistograms;
  if (messages.length > 0) {
    histogramTimes = Float64Array.from(messages, ({ timeMs }) => Number(timeMs));
    histograms = messages.map(({ message }) => decodeHistogram(message));
  }
  return { labels, times, values, from, to, hasStale, falls, histogramTimes, histograms };
}
