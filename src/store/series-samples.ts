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
  const columns = toColumns(series);
  const to = columns.times.length;
  return { labels: toLabelSet(labels), ...columns, from: 0, to, histograms };
}

export interface Columns {
  /** Unix ms. */
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Values keep their bits: as numbers, stale markers could lose theirs. */
export function toColumns({ times, values }: Samples): Columns {
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

/**
 * Rows as they are stored, by ascending time, each time once.
 * @returns undefined where rows of one time differ, and the store knows which came last
 */
export function uniqueColumns(stored: Columns): Columns | undefined {
  const { times, values } = inRuns(stored);
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const isSame = (one: number, other: number) =>
    words[2 * one] === words[2 * other] && words[2 * one + 1] === words[2 * other + 1];
  let count = Math.min(1, times.length);
  for (let i = 1; i < times.length; i++) {
    if (times[i] === times[count - 1]) {
      if (!isSame(i, count - 1)) return undefined;
      continue;
    }
    if (i > count) {
      times[count] = times[i]!;
      words.copyWithin(2 * count, 2 * i, 2 * i + 2);
    }
    count += 1;
  }
  if (count === times.length) return { times, values };
  return { times: times.slice(0, count), values: values.slice(0, count) };
}

/** By time. Each part of the store has an ascending run, which seldom overlaps with others. */
function inRuns(columns: Columns): Columns {
  const runs = runsOf(columns.times);
  if (runs.length <= 1) return columns;
  const { times, values } = columns;
  runs.sort((left, right) => times[left.from]! - times[right.from]!);
  const isApart = runs.every(
    ({ from }, i) => i === 0 || times[runs[i - 1]!.to - 1]! <= times[from]!,
  );
  const pieces = isApart
    ? runs
    : Array.from(times.keys())
        .sort((left, right) => times[left]! - times[right]!)
        .map((from) => ({ from, to: from + 1 }));
  const sorted = { times: new Float64Array(times.length), values: new Float64Array(times.length) };
  let at = 0;
  for (const { from, to } of pieces) {
    sorted.times.set(times.subarray(from, to), at);
    sorted.values.set(values.subarray(from, to), at);
    at += to - from;
  }
  return sorted;
}

function runsOf(times: Float64Array): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let from = 0;
  for (let i = 1; i <= times.length; i++) {
    if (i < times.length && times[i]! >= times[i - 1]!) continue;
    runs.push({ from, to: i });
    from = i;
  }
  return runs;
}
