/** The value of one group of series at one step. */
import type { Annotations } from './annotations.ts';
import type { Aggregation } from './parser/ast.ts';
import { HistogramSum, MixedSchemasError } from './histogram/histogram-sum.ts';
import type { Histogram } from './histogram/histogram.ts';
import { KahanSum } from './histogram/kahan.ts';
import { metricName } from './labels.ts';
import { MeanOfFloats, MeanOfHistograms } from './functions/over-time.ts';
import { quantile } from './functions/quantile.ts';
import type { GridSeries } from './values.ts';
import { withoutParens } from './parser/ast.ts';

export interface Group {
  addFloat(value: number): void;
  addHistogram(histogram: Histogram, member: GridSeries): void;
  /** Undefined = no value. */
  result(): number | Histogram | undefined;
}

export function createGroup(
  expr: Aggregation,
  notes: Annotations,
  param: number | undefined,
): Group {
  switch (expr.op) {
    case 'count':
    case 'group':
      return new Count(expr.op);
    case 'sum':
      return new Total(expr, notes, floatSum(), histogramSum);
    case 'avg':
      return new Total(expr, notes, new MeanOfFloats(), histogramMean);
    case 'max':
      return new Floats(expr, notes, (values) => extreme(values, (a, b) => a > b));
    case 'min':
      return new Floats(expr, notes, (values) => extreme(values, (a, b) => a < b));
    case 'stdvar':
      return new Floats(expr, notes, variance);
    case 'stddev':
      return new Floats(expr, notes, (values) => Math.sqrt(variance(values)));
    default:
      return new Floats(expr, notes, (values) => quantile(param ?? Number.NaN, values));
  }
}

class Count implements Group {
  readonly #op: 'count' | 'group';
  #count = 0;

  constructor(op: 'count' | 'group') {
    this.#op = op;
  }

  addFloat(): void {
    this.#count += 1;
  }

  addHistogram(): void {
    this.#count += 1;
  }

  result(): number | undefined {
    if (this.#count === 0) return undefined;
    return this.#op === 'group' ? 1 : this.#count;
  }
}

/** Ignores histograms with an info. */
class Floats implements Group {
  readonly #expr: Aggregation;
  readonly #notes: Annotations;
  readonly #compute: (values: number[]) => number;
  readonly #values: number[] = [];

  constructor(expr: Aggregation, notes: Annotations, compute: (values: number[]) => number) {
    this.#expr = expr;
    this.#notes = notes;
    this.#compute = compute;
  }

  addFloat(value: number): void {
    this.#values.push(value);
  }

  addHistogram(): void {
    const { op, expr } = this.#expr;
    this.#notes.info(withoutParens(expr), `ignored histogram in ${op} aggregation`);
  }

  result(): number | undefined {
    return this.#values.length === 0 ? undefined : this.#compute(this.#values);
  }
}

interface FloatTotal {
  add(value: number): void;
  value(): number;
}

interface HistogramTotal {
  /** @returns whether custom bounds differed. @throws MixedSchemasError */
  add(histogram: Histogram): boolean;
  result(): Histogram;
}

function floatSum(): FloatTotal {
  return new KahanSum(0);
}

function histogramSum(first: Histogram): HistogramTotal {
  const sum = new HistogramSum(first);
  return { add: (histogram) => sum.add(histogram).reconciled, result: () => sum.result() };
}

function histogramMean(first: Histogram): HistogramTotal {
  return new MeanOfHistograms(first);
}

/** A sum or mean of either floats or histograms; of both there is none. */
class Total implements Group {
  readonly #expr: Aggregation;
  readonly #notes: Annotations;
  readonly #floats: FloatTotal;
  readonly #start: (first: Histogram) => HistogramTotal;
  readonly #hints = new Set<string>();
  #histograms: HistogramTotal | undefined;
  #hasFloats = false;
  #isMixed = false;

  constructor(
    expr: Aggregation,
    notes: Annotations,
    floats: FloatTotal,
    start: (first: Histogram) => HistogramTotal,
  ) {
    this.#expr = expr;
    this.#notes = notes;
    this.#floats = floats;
    this.#start = start;
  }

  addFloat(value: number): void {
    this.#hasFloats = true;
    this.#floats.add(value);
  }

  addHistogram(histogram: Histogram, member: GridSeries): void {
    if (this.#isMixed) return;
    const at = withoutParens(this.#expr.expr);
    this.#hints.add(histogram.hint);
    if (this.#histograms === undefined) {
      this.#histograms = this.#start(histogram);
      return;
    }
    try {
      if (!this.#histograms.add(histogram)) return;
      this.#notes.info(at, 'mismatched custom buckets were reconciled during aggregation');
    } catch (error) {
      if (!(error instanceof MixedSchemasError)) throw error;
      this.#isMixed = true;
      const schemas = 'histograms with exponential and custom buckets schemas';
      const name = JSON.stringify(metricName(member.labels));
      this.#notes.warn(at, `vector contains a mix of ${schemas} for metric name ${name}`);
    }
  }

  result(): number | Histogram | undefined {
    const at = withoutParens(this.#expr.expr);
    if (this.#histograms === undefined) {
      return this.#hasFloats ? this.#floats.value() : undefined;
    }
    if (this.#hasFloats) {
      this.#notes.warn(at, 'encountered a mix of histograms and floats for aggregation');
      return undefined;
    }
    if (this.#isMixed) return undefined;
    if (this.#hints.has('reset') && this.#hints.has('not_reset')) {
      this.#notes.warn(at, 'conflicting counter resets during histogram aggregation');
    }
    return this.#histograms.result();
  }
}

function extreme(values: readonly number[], isBetter: (a: number, b: number) => boolean): number {
  let best = values[0]!;
  for (const value of values) if (isBetter(value, best) || Number.isNaN(best)) best = value;
  return best;
}

/** Welford's algorithm. */
function variance(values: readonly number[]): number {
  let mean = 0;
  let squares = 0;
  for (const [i, value] of values.entries()) {
    const delta = value - mean;
    mean += delta / (i + 1);
    squares += delta * (value - mean);
  }
  return values.some((value) => !Number.isFinite(value)) ? Number.NaN : squares / values.length;
}
