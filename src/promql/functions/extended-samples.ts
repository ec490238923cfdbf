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
  const { times, values } = series;
  const isSmoothed = extension === 'smoothed';
  const extent =
    times.length === 0 ? undefined : extentOf(times, [0, times.length], window, isSmoothed);
  if (extent === undefined) return { times: noTimes, values: noTimes, ...none };
  const { left, right } = edgesOf(window, extent, { isSmoothed, isCounter: false });
  const first = extent.first + (times[extent.first]! <= startMs ? 1 : 0);
  const last = extent.last - (times[extent.last]! >= endMs ? 1 : 0);
  return {
    times: Float64Array.from([startMs, ...times.subarray(first, last + 1), endMs]),
    values: Float64Array.from([left, ...values.subarray(first, last + 1), right]),
    ...none,
  };
}
