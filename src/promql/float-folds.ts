/** Aggregates of the floats of a group: series are added one by one, to all steps at once. */
import { quantile } from './functions/quantile.ts';
import { roundingLoss } from './histogram/kahan.ts';
import type { Aggregation } from './parser/ast.ts';
import { type GridSeries, kind } from './values.ts';

export interface FloatFold {
  /** Values added at each step; of `count` and `group` also histograms. */
  readonly counts: Uint32Array;
  add(member: GridSeries): void;
  /** At a step with a count. */
  result(step: number): number;
}

/** @param param of each step */
export function createFold(
  { op }: Pick<Aggregation, 'op'>,
  steps: number,
  param: Float64Array,
): FloatFold {
  switch (op) {
    case 'count':
    case 'group':
      return new Count(op, steps);
    case 'sum':
      return new Sum(steps);
    case 'avg':
      return new Mean(steps);
    case 'max':
      return new Extreme(1, steps);
    case 'min':
      return new Extreme(-1, steps);
    case 'stdvar':
    case 'stddev':
      return new Variance(op, steps);
    default:
      return new Quantile(steps, param);
  }
}

class Count implements FloatFold {
  readonly counts: Uint32Array;
  readonly #op: 'count' | 'group';

  constructor(op: 'count' | 'group', steps: number) {
    this.#op = op;
    this.counts = new Uint32Array(steps);
  }

  add({ kinds }: GridSeries): void {
    const { counts } = this;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.none) counts[step]! += 1;
    }
  }

  result(step: number): number {
    return this.#op === 'group' ? 1 : this.counts[step]!;
  }
}

/** Compensated as `KahanSum`. */
class Sum implements FloatFold {
  readonly counts: Uint32Array;
  readonly sums: Float64Array;
  readonly rests: Float64Array;

  constructor(steps: number) {
    this.counts = new Uint32Array(steps);
    this.sums = new Float64Array(steps);
    this.rests = new Float64Array(steps);
  }

  add({ kinds, floats }: GridSeries): void {
    const { counts, sums, rests } = this;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.float) continue;
      const sum = sums[step]!;
      const value = floats[step]!;
      sums[step] = sum + value;
      rests[step]! += roundingLoss(sum, value);
      counts[step]! += 1;
    }
  }

  result(step: number): number {
    const sum = this.sums[step]!;
    return Number.isFinite(sum) ? sum + this.rests[step]! : sum;
  }
}

/** Goes on without the sum of a step once that overflows. */
class Mean extends Sum {
  readonly #areMeans: Uint8Array;

  constructor(steps: number) {
    super(steps);
    this.#areMeans = new Uint8Array(steps);
  }

  override add({ kinds, floats }: GridSeries): void {
    const { counts, sums, rests } = this;
    const areMeans = this.#areMeans;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.float) continue;
      const value = floats[step]!;
      const sum = sums[step]!;
      const next = sum + value;
      counts[step]! += 1;
      const overflows = (next === Infinity || next === -Infinity) && counts[step] !== 1;
      if (overflows || areMeans[step] === 1) {
        this.#addToMean(step, value);
        continue;
      }
      rests[step]! += roundingLoss(sum, value);
      sums[step] = next;
    }
  }

  override result(step: number): number {
    if (this.#areMeans[step] === 1) return super.result(step);
    const sum = this.sums[step]!;
    const count = this.counts[step]!;
    return Number.isFinite(sum) ? sum / count + this.rests[step]! / count : sum / count;
  }

  #addToMean(step: number, value: number): void {
    const count = this.counts[step]!;
    // A sum becomes a mean as it is scaled.
    const divisor = this.#areMeans[step] === 1 ? count / (count - 1) : count;
    this.#areMeans[step] = 1;
    this.sums[step]! /= divisor;
    this.rests[step]! /= divisor;
    const sum = this.sums[step]!;
    this.rests[step]! += roundingLoss(sum, value / count);
    this.sums[step] = sum + value / count;
  }
}

/** The greatest of the values times `sign`; NaN only where all are. */
class Extreme implements FloatFold {
  readonly counts: Uint32Array;
  readonly #sign: 1 | -1;
  readonly #best: Float64Array;

  constructor(sign: 1 | -1, steps: number) {
    this.#sign = sign;
    this.counts = new Uint32Array(steps);
    this.#best = new Float64Array(steps).fill(Number.NaN);
  }

  add({ kinds, floats }: GridSeries): void {
    const { counts } = this;
    const sign = this.#sign;
    const best = this.#best;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.float) continue;
      const value = sign * floats[step]!;
      const known = best[step]!;
      if (value > known || Number.isNaN(known)) best[step] = value;
      counts[step]! += 1;
    }
  }

  result(step: number): number {
    return this.#sign * this.#best[step]!;
  }
}

/** Welford's algorithm; an infinite value makes NaN. */
class Variance implements FloatFold {
  readonly counts: Uint32Array;
  readonly #op: 'stdvar' | 'stddev';
  readonly #means: Float64Array;
  readonly #squares: Float64Array;

  constructor(op: 'stdvar' | 'stddev', steps: number) {
    this.#op = op;
    this.counts = new Uint32Array(steps);
    this.#means = new Float64Array(steps);
    this.#squares = new Float64Array(steps);
  }

  add({ kinds, floats }: GridSeries): void {
    const { counts } = this;
    const means = this.#means;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.float) continue;
      const value = floats[step]!;
      counts[step]! += 1;
      const delta = value - means[step]!;
      means[step]! += delta / counts[step]!;
      this.#squares[step]! += delta * (value - means[step]!);
    }
  }

  result(step: number): number {
    const variance = this.#squares[step]! / this.counts[step]!;
    return this.#op === 'stddev' ? Math.sqrt(variance) : variance;
  }
}

class Quantile implements FloatFold {
  readonly counts: Uint32Array;
  readonly #param: Float64Array;
  readonly #members: GridSeries[] = [];
  #values = new Float64Array();

  constructor(steps: number, param: Float64Array) {
    this.counts = new Uint32Array(steps);
    this.#param = param;
  }

  add(member: GridSeries): void {
    const { counts } = this;
    const { kinds } = member;
    this.#members.push(member);
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] === kind.float) counts[step]! += 1;
    }
  }

  result(step: number): number {
    if (this.#values.length === 0) this.#values = new Float64Array(this.#members.length);
    let count = 0;
    for (const { kinds, floats } of this.#members) {
      if (kinds[step] === kind.float) this.#values[count++] = floats[step]!;
    }
    return quantile(this.#param[step]!, this.#values, count);
  }
}
