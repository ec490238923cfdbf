/** Joins samples, native histograms and labels of series. Pure. */
import type { SeriesColumns, SeriesSamples } from '../model/metric-plan.ts';
import { toLabels as toLabelSet } from '../promql/labels.ts';
import type { HistogramOfSeries, SamplesRow } from './sql/samples.ts';
import { type SeriesRow, toLabels } from './sql/series.ts';

/** @returns the series that have samples, in the order of `series`; samples sorted by time */
export function toSeriesSamples(
  series: readonly SeriesRow[],
  rows: readonly SamplesRow[],
  histograms: readonly HistogramOfSeries[],
): SeriesSamples[] {
  const samplesById = new Map(rows.map((row) => [String(row.seriesId), row]));
  const histogramsById = Map.groupBy(histograms, ({ seriesId }) => String(seriesId));
  return series.flatMap((one) => {
    const samples = samplesById.get(one[0]);
    const ownHistograms = histogramsById.get(one[0]) ?? [];
    if (samples === undefined && ownHistograms.length === 0) return [];
    const { times, values } = samples === undefined ? noSamples : inOrder(samples);
    return [{ labels: toLabels(one), times, values, histograms: ownHistograms }];
  });
}

const noSamples = { times: new BigInt64Array(), values: new BigUint64Array() };

type Samples = Pick<SamplesRow, 'times' | 'values'>;

/** As numbers, with labels in the order of PromQL. */
export function toSeriesColumns({ labels, ...series }: SeriesSamples): SeriesColumns {
  const { histograms } = series;
  return { labels: toLabelSet(labels), ...toColumns(series), histograms };
}

/** Values keep their bits: as numbers, stale markers could lose theirs. */
export function toColumns({ times, values }: Samples): {
  times: Float64Array;
  values: Float64Array;
} {
  const { buffer, byteOffset, length } = values;
  return { times: toMillis(times), values: new Float64Array(buffer, byteOffset, length) };
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

/** Threads of the store append sorted runs in any order. */
export function inOrder({ times, values }: Samples): Samples {
  if (isAscending(times)) return { times, values };
  const order = Array.from(times.keys()).sort((a, b) => (times[a]! < times[b]! ? -1 : 1));
  return {
    times: BigInt64Array.from(order, (index) => times[index]!),
    values: BigUint64Array.from(order, (index) => values[index]!),
  };
}

/** Compares 32-bit halves: a BigInt per sample would cost more than reading them. */
function isAscending(times: BigInt64Array): boolean {
  const words = new DataView(times.buffer, times.byteOffset, times.byteLength);
  for (let at = 8; at < times.byteLength; at += 8) {
    const difference = words.getInt32(at + 4, true) - words.getInt32(at - 4, true);
    if (difference < 0) return false;
    if (difference === 0 && words.getUint32(at, true) < words.getUint32(at - 8, true)) return false;
  }
  return true;
}
