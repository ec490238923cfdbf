/** Samples of the store as the evaluator of PromQL reads them. */
import type { SamplesPlan, SeriesSamples } from '../model/metric-plan.ts';
import { toLabels } from '../promql/labels.ts';
import { noTimes, type SampleSeries, type SampleSource } from '../promql/source.ts';
import type { Store } from '../store/port.ts';
import { decodeHistogram } from './native-histogram.ts';

/** What the reads of one query have in common. */
export type ReadScope = Pick<SamplesPlan, 'accountId' | 'streams' | 'maxSeries' | 'maxSamples'>;

/** Beyond the times of any sample. */
const lowestMs = -(2 ** 53);
const highestMs = 2 ** 53;

export function createSampleSource(
  store: Pick<Store, 'samples'>,
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
      const found = await store.samples({ ...scope, selectors, ...range }, signal);
      return found.map(toSampleSeries);
    },
  };
}

function toSampleSeries({ labels, times, values, histograms }: SeriesSamples): SampleSeries {
  return {
    labels: toLabels(labels),
    times: toMillis(times),
    // The same bits: as numbers, stale markers could lose theirs.
    values: new Float64Array(values.buffer, values.byteOffset, values.length),
    histogramTimes:
      histograms.length === 0
        ? noTimes
        : Float64Array.from(histograms, ({ timeMs }) => Number(timeMs)),
    histograms: histograms.map(({ message }) => decodeHistogram(message)),
  };
}

/** By words: a bigint for each sample would cost more than the evaluation. */
function toMillis(times: BigInt64Array): Float64Array {
  const words = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  const millis = new Float64Array(times.length);
  for (let i = 0; i < millis.length; i++) {
    millis[i] = words[2 * i + 1]! * 2 ** 32 + (words[2 * i]! >>> 0);
  }
  return millis;
}
