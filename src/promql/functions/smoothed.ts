/** `smoothed` selectors: values between samples are interpolated. */
import type { VectorSelector } from '../parser/ast.ts';
import type { Evaluation } from '../evaluation.ts';
import { interpolate, interpolateHistograms } from './extended-rate.ts';
import { type Histogram, isCustom, withHint } from '../histogram/histogram.ts';
import { RangeContext, warnMixed } from './range-context.ts';
import { looksOf, RangeWindow, withoutStale } from '../selection.ts';
import { type Grid, type GridSeries, isEmpty, newSeries, setCell } from '../values.ts';

export async function selectSmoothed(
  ev: Evaluation,
  grid: Grid,
  selector: VectorSelector,
): Promise<readonly GridSeries[]> {
  const looks = looksOf(ev, grid, selector);
  const lookbackMs = ev.lookbackMs(looks.first);
  const places = { at: selector, first: selector };
  const context = new RangeContext(ev, places, { rangeMs: 0, extension: 'smoothed' });
  const from = looks.first - lookbackMs + 1;
  const results: GridSeries[] = [];
  for (const series of await ev.select(selector, from, looks.last + lookbackMs)) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const cells = newSeries(series.labels, grid.steps);
    const window = new RangeWindow(withoutStale(series));
    for (let step = 0; step < grid.steps; step++) {
      const at = looks.first + step * looks.stepMs;
      window.move(at - lookbackMs, at + lookbackMs);
      if (!window.isEmpty()) setCell(cells, step, smoothedAt(window, at, context));
    }
    if (!isEmpty(cells)) results.push(cells);
  }
  return results;
}

function smoothedAt(
  window: RangeWindow,
  at: number,
  context: RangeContext,
): number | Histogram | undefined {
  if (window.floats() > 0 && window.histogramCount() > 0) return warnMixed(window.labels, context);
  return window.floats() > 0 ? floatAt(window, at) : histogramAt(window, at, context);
}

function floatAt({ times, values, from, to }: RangeWindow, at: number): number | undefined {
  let next = from;
  while (next < to && times[next]! < at) next += 1;
  if (next < to && times[next] === at) return values[next];
  if (next === from) return undefined;
  const sample = (i: number) => ({ timeMs: times[i]!, value: values[i]! });
  if (next === to) return values[to - 1];
  return interpolate(sample(next - 1), sample(next), { timeMs: at, isCounter: false });
}

function histogramAt(window: RangeWindow, at: number, context: RangeContext) {
  const { histogramTimes: times, histograms, histogramFrom, histogramTo } = window;
  let next = histogramFrom;
  while (next < histogramTo && times[next]! < at) next += 1;
  if (next < histogramTo && times[next] === at) return histograms[next];
  if (next === histogramFrom) return undefined;
  const before = histograms[next - 1]!;
  if (next === histogramTo) return withHint(before, 'unknown');
  const after = histograms[next]!;
  if (isCustom(before) !== isCustom(after)) return context.warnSchemas(window.labels);
  const sample = (i: number) => ({ timeMs: times[i]!, histogram: histograms[i]! });
  const isCounter = before.hint !== 'gauge' || after.hint !== 'gauge';
  return interpolateHistograms(sample(next - 1), sample(next), { timeMs: at, isCounter, context });
}
