/**
 * Values of expressions over a grid of times: each series has one cell per step. Steps are columns,
 * so that an operator is a loop over typed arrays.
 */
import type { Histogram } from './histogram/histogram.ts';
import { type Labels, labelsKey, withoutMetadata } from './labels.ts';
import { executionError } from './errors.ts';

export interface Grid {
  /** Unix ms of the first step. */
  readonly startMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

export const kind = { none: 0, float: 1, histogram: 2 } as const;

export interface GridSeries {
  labels: Labels;
  /** Whether the name of the metric goes at the end of the evaluation. */
  dropName: boolean;
  /** Of each step one of `kind`. */
  readonly kinds: Uint8Array;
  readonly floats: Float64Array;
  /** Absent = no cell is a histogram. */
  histograms: (Histogram | undefined)[] | undefined;
}

export type Value =
  | { readonly kind: 'scalar'; readonly values: Float64Array }
  | {
      readonly kind: 'vector';
      readonly series: readonly GridSeries[];
      /** Whether the labels of no two series are known to be equal; absent = unknown. */
      readonly isDistinct?: boolean;
    }
  | { readonly kind: 'string'; readonly value: string };

export function timeOf({ startMs, stepMs }: Grid, step: number): number {
  return startMs + step * stepMs;
}

export function newSeries(labels: Labels, steps: number, dropName = false): GridSeries {
  return {
    labels,
    dropName,
    kinds: new Uint8Array(steps),
    floats: new Float64Array(steps),
    histograms: undefined,
  };
}

export function setCell(
  series: GridSeries,
  step: number,
  value: number | Histogram | undefined,
): void {
  if (value === undefined) return;
  if (typeof value === 'number') {
    series.kinds[step] = kind.float;
    series.floats[step] = value;
    return;
  }
  series.kinds[step] = kind.histogram;
  series.histograms ??= Array.from({ length: series.kinds.length });
  series.histograms[step] = value;
}

/** Receives the cells of series, one series after the other. */
export interface CellSink {
  /** Empty cells to fill for the next series. */
  next(labels: Labels, dropName: boolean): GridSeries;
  take(cells: GridSeries): void;
}

/** Keeps the series that have a value. */
export class SeriesList implements CellSink {
  readonly series: GridSeries[] = [];
  readonly #grid: Grid;
  readonly #check: (series: number) => void;

  /** @param check throws where so many series have too many cells */
  constructor(grid: Grid, check: (series: number) => void) {
    this.#grid = grid;
    this.#check = check;
  }

  next(labels: Labels, dropName: boolean): GridSeries {
    this.#check(this.series.length + 1);
    return newSeries(labels, this.#grid.steps, dropName);
  }

  take(cells: GridSeries): void {
    if (!isEmpty(cells)) this.series.push(cells);
  }
}

export function histogramAt({ kinds, histograms }: GridSeries, step: number) {
  return kinds[step] === kind.histogram ? histograms?.[step] : undefined;
}

export function isEmpty({ kinds }: GridSeries): boolean {
  for (let step = 0; step < kinds.length; step++) if (kinds[step] !== kind.none) return false;
  return true;
}

export function countCells(series: readonly GridSeries[]): number {
  let count = 0;
  for (const { kinds } of series) {
    for (let step = 0; step < kinds.length; step++) if (kinds[step] !== kind.none) count += 1;
  }
  return count;
}

/** With the name of its metric gone, at once or at the end of the evaluation. */
export function withoutName(series: GridSeries, delayed: boolean): GridSeries {
  if (delayed) return { ...series, dropName: true };
  return { ...series, labels: withoutMetadata(series.labels) };
}

/** @throws QueryError where two series with equal labels have a value at one step */
export function mergeEqual(series: readonly GridSeries[]): readonly GridSeries[] {
  if (series.length < 2) return series;
  const byKey = new Map<string, GridSeries>();
  for (const one of series) {
    const key = labelsKey(one.labels);
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? one : mergeTwo(known, one));
  }
  return byKey.size === series.length ? series : [...byKey.values()];
}

function mergeTwo(left: GridSeries, right: GridSeries): GridSeries {
  const steps = left.kinds.length;
  const merged = newSeries(left.labels, steps, left.dropName);
  for (let step = 0; step < steps; step++) {
    if (left.kinds[step] !== kind.none && right.kinds[step] !== kind.none) throw duplicateLabels();
    const from = left.kinds[step] === kind.none ? right : left;
    copyCell(from, step, merged);
  }
  return merged;
}

export function copyCell(from: GridSeries, step: number, to: GridSeries): void {
  if (from.kinds[step] === kind.float) setCell(to, step, from.floats[step]);
  else setCell(to, step, histogramAt(from, step));
}

export function duplicateLabels() {
  return executionError('vector cannot contain metrics with the same labelset');
}
