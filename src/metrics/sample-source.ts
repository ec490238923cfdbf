/** Samples of the store as the evaluator of PromQL reads them. */
import type { SamplesPlan, SeriesColumns } from '../model/metric-plan.ts';
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
  signal: AbortSignal | undefined,
): SampleSource {
  return {
    async select(matchers, { fromMs, untilMs }) {
      const from = Math.max(fromMs, lowestMs);
      const until = Math.min(untilMs, highestMs);
      if (from > until) return [];
      const range = { fromMs: BigInt(Math.ceil(from)), untilMs: BigInt(Math.floor(until)) };
      const selectors = matchers.length === 0 ? [] : [matchers];
      const found = await store.sampleColumns({ ...scope, selectors, ...range }, signal);
      return found.map(toSampleSeries);
    },
  };
}

const noHistograms: SampleSeries['histograms'] = [];

function toSampleSeries({ histograms, ...floats }: SeriesColumns): SampleSeries {
  if (histograms.length === 0) {
    return { ...floats, histogramTimes: noTimes, histograms: noHistograms };
  }
  return {
    ...floats,
    histogramTimes: Float64Array.from(histograms, ({ timeMs }) => Number(timeMs)),
    histograms: histograms.map(({ message }) => decodeHistogram(message)),
  };
}
