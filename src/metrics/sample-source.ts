/** Samples of the store as the evaluator of PromQL reads them. */
import type { SamplesPlan, SeriesColumns } from '../model/metric-plan.ts';
import type { ReadCaller } from '../model/read-route.ts';
import { noTimes, type SampleSeries, type SampleSource } from '../promql/source.ts';
import type { Store } from '../store/port.ts';
import { decodeHistogram } from './native-histogram.ts';

/** What the reads of one query have in common. */
export type ReadScope = Pick<SamplesPlan, 'accountId' | 'streams' | 'maxSeries' | 'maxSamples'>;

/** Beyond the times of any sample. */
const lowestMs = -(2 ** 53);
const highestMs = 2 ** 53;

export function createSampleSource(
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
