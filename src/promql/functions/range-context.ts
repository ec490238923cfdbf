/** What functions of a range know besides the samples. */
import type { Annotations } from '../annotations.ts';
import type { Evaluation } from '../evaluation.ts';
import type { Extension, Span } from '../parser/ast.ts';
import type { Histogram } from '../histogram/histogram.ts';
import { type Labels, metricName } from '../labels.ts';
import type { RangeWindow } from '../selection.ts';

export type RangeFunction = (
  window: RangeWindow,
  args: readonly number[],
  context: RangeContext,
) => Cell | Promise<Cell>;

type Cell = number | Histogram | undefined;

export interface RateKind {
  readonly isCounter: boolean;
  readonly isRate: boolean;
}

export class RangeContext {
  readonly ev: Pick<Evaluation, 'notes' | 'isTurnOver' | 'breathe'>;
  readonly notes: Annotations;
  /** The range, and the first argument. */
  readonly at: Span;
  readonly first: Span;
  readonly rangeMs: number;
  readonly rangeSeconds: number;
  readonly extension: Extension | undefined;
  #copy = new Float64Array();

  constructor(
    ev: RangeContext['ev'],
    places: { readonly at: Span; readonly first: Span },
    range: { readonly rangeMs: number; readonly extension: Extension | undefined },
  ) {
    this.ev = ev;
    this.notes = ev.notes;
    this.at = places.at;
    this.first = places.first;
    this.rangeMs = range.rangeMs;
    this.rangeSeconds = range.rangeMs / 1000;
    this.extension = range.extension;
  }

  /** The floats of a window, at the start of an array that the next call overwrites. */
  copyOf({ values, from, to }: RangeWindow): Float64Array {
    if (this.#copy.length < to - from) this.#copy = new Float64Array(2 * (to - from));
    const copy = this.#copy;
    for (let i = from; i < to; i++) copy[i - from] = values[i]!;
    return copy;
  }

  warnSchemas(labels: Labels): undefined {
    const text = 'vector contains a mix of histograms with exponential and custom buckets schemas';
    const name = JSON.stringify(metricName(labels));
    this.notes.warn(this.at, `${text} for metric name ${name}`);
  }

  infoReconciled(operation: 'addition' | 'subtraction' | 'aggregation'): void {
    this.notes.info(this.at, `mismatched custom buckets were reconciled during ${operation}`);
  }

  noteAggregated(histograms: readonly Histogram[], reconciled: boolean): void {
    const has = (hint: string) => histograms.some((histogram) => histogram.hint === hint);
    if (has('reset') && has('not_reset')) {
      this.notes.warn(this.at, 'conflicting counter resets during histogram aggregation');
    }
    if (reconciled) this.infoReconciled('aggregation');
  }

  warnNotCounter(labels: Labels): void {
    const name = JSON.stringify(metricName(labels));
    this.notes.warn(this.at, `this native histogram metric is not a counter: ${name}`);
  }

  warnNotGauge(labels: Labels): void {
    const name = JSON.stringify(metricName(labels));
    this.notes.warn(this.at, `this native histogram metric is not a gauge: ${name}`);
  }
}

export function warnMixed(labels: Labels, { notes, at }: RangeContext): undefined {
  const name = JSON.stringify(metricName(labels));
  notes.warn(at, `encountered a mix of histograms and floats for metric name ${name}`);
}
