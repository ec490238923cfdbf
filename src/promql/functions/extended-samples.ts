/** The samples of an `anchored` or `smoothed` range, completed at both ends of it. */
import type { Extension } from '../parser/ast.ts';
import { executionError } from '../errors.ts';
import { edgesOf, extentOf } from './extended-rate.ts';
import { type RangeSeries, RangeWindow } from '../selection.ts';
import { noTimes } from '../source.ts';

export function extendedSamples(
  series: RangeSeries,
  {
    startMs,
    endMs,
    extension,
  }: { readonly startMs: number; readonly endMs: number; readonly extension: Extension },
): Omit<RangeSeries, 'labels' | 'dropName'> {
  if (series.histograms.length > 0) {
    throw executionError(`${extension} modifier is not supported with histograms`);
  }
  const none = { histogramTimes: noTimes, histograms: [] };
  const window = new RangeWindow(series);
  window.startMs = startMs;
  window.endMs = endMs;
  window.move(-Infinity, Infinity);
  const { times, values, from, to } = series;
  const isSmoothed = extension === 'smoothed';
  const extent = from === to ? undefined : extentOf(times, [from, to], window, isSmoothed);
  if (extent === undefined) return { times: noTimes, values: noTimes, from: 0, to: 0, ...none };
  const { left, right } = edgesOf(window, extent, { isSmoothed, isCounter: false });
  const first = extent.first + (times[extent.first]! <= startMs ? 1 : 0);
  const last = extent.last - (times[extent.last]! >= endMs ? 1 : 0);
  const all = {
    times: Float64Array.from([startMs, ...times.subarray(first, last + 1), endMs]),
    values: Float64Array.from([left, ...values.subarray(first, last + 1), right]),
  };
  return { ...all, from: 0, to: all.times.length, ...none };
}
