/** State of one query: its bounds, limits, annotations and the samples read so far. */
import { setImmediate } from 'node:timers/promises';
import { Annotations } from './annotations.ts';
import type { Duration, Expr, Span, VectorSelector, Subquery } from './parser/ast.ts';
import { executionError, QueryError } from './errors.ts';
import { selectorsOfCounts, withDetectedHints } from './histogram/detected-hints.ts';
import { sampleWeight } from './histogram/histogram.ts';
import { matchersKey } from './matchers.ts';
import { type SampleSeries, type SampleSource, seriesWithin } from './source.ts';
import { type Grid, type GridSeries, kind, type Value } from './values.ts';
import type { Windows } from './windows.ts';

export interface QueryOptions {
  /** How long the last sample of a series stays valid. */
  readonly lookbackMs: number;
  /** Lookbacks of selectors that begin before a time, where samples are farther apart. */
  readonly olderLookbacks?: readonly { readonly beforeMs: number; readonly lookbackMs: number }[];
  /** Step of a subquery without one. */
  readonly subqueryStepMs: number;
  /** Most samples in memory, read or computed. */
  readonly maxSamples: number;
  /** Whether the samples that each step looks at are counted; absent = not. */
  readonly countsLooks?: boolean;
  /** Whether names of metrics are dropped at the end, so that operators in between see them. */
  readonly delayedNameRemoval: boolean;
  /** `performance.now()` at which the query times out. */
  readonly deadline: number;
  /** Aborts when the reader disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** Times of a query; an instant query has one step. */
export interface QueryTimes {
  readonly startMs: number;
  readonly endMs: number;
  /** 0 = instant. */
  readonly stepMs: number;
}

export interface Query {
  readonly text: string;
  readonly expr: Expr;
  readonly times: QueryTimes;
}

/** Evaluates an expression on a grid. @throws QueryError */
export type Evaluate = (ev: Evaluation, grid: Grid, expr: Expr) => Promise<Value>;

/** Samples of a selector that were read. */
interface Read {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly series: readonly SampleSeries[];
}

function stepsOf({ startMs, endMs, stepMs }: QueryTimes): number {
  return stepMs === 0 ? 1 : Math.floor((endMs - startMs) / stepMs) + 1;
}

/** Work between two turns of the event loop. */
const turnMs = 10;
/** Cells between two looks at the clock, each of which costs as much as computing a cell. */
const cellsPerLook = 1000;
/** Most cells of several series, filled or not, for each sample of the limit. */
const cellsPerSample = 8;

export class Evaluation {
  readonly options: QueryOptions;
  readonly times: QueryTimes;
  readonly notes: Annotations;
  readonly #source: SampleSource;
  readonly #ofCounts: ReadonlySet<VectorSelector>;
  /** By the key of the matchers. */
  readonly #reads = new Map<string, Read[]>();
  readonly stats: { peak: number; readonly looked: Float64Array };
  #samples = 0;
  #grid: Grid | undefined;
  #turnEnd = performance.now() + turnMs;
  #cells = 0;

  constructor({ text, expr, times }: Query, source: SampleSource, options: QueryOptions) {
    this.#ofCounts = selectorsOfCounts(expr);
    this.options = options;
    this.times = times;
    this.notes = new Annotations(text);
    this.#source = source;
    const counted = options.countsLooks ? stepsOf(times) : 0;
    this.stats = { peak: 0, looked: new Float64Array(counted) };
  }

  /** The steps of the query itself, as against those of subqueries. */
  grid(): Grid {
    const { startMs, stepMs } = this.times;
    this.#grid ??= { startMs, stepMs: stepMs || 1, steps: stepsOf(this.times) };
    return this.#grid;
  }

  /** @param firstMs of the steps at which a selector looks */
  lookbackMs(firstMs: number): number {
    const { lookbackMs, olderLookbacks = [] } = this.options;
    if (olderLookbacks.length === 0) return lookbackMs;
    const older = olderLookbacks.filter(({ beforeMs }) => firstMs < beforeMs);
    return Math.max(lookbackMs, ...older.map((one) => one.lookbackMs));
  }

  /** Counts samples that a step of the query looks at; subqueries count with their results. */
  look(grid: Grid, step: number, samples: number): void {
    if (this.#isCounted(grid)) this.stats.looked[step]! += samples;
  }

  /** One sample for each cell. */
  lookAtCells(grid: Grid, { kinds }: Pick<GridSeries, 'kinds'>): void {
    if (!this.#isCounted(grid)) return;
    const { looked } = this.stats;
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== kind.none) looked[step]! += 1;
    }
  }

  /** The floats of each window. */
  lookAtWindows(grid: Grid, { from, to }: Windows): void {
    if (!this.#isCounted(grid)) return;
    const { looked } = this.stats;
    for (let step = 0; step < from.length; step++) looked[step]! += to[step]! - from[step]!;
  }

  #isCounted(grid: Grid): boolean {
    return this.options.countsLooks === true && grid === this.#grid;
  }

  /** Samples of a selector; a range within an earlier one is not read again. @throws QueryError */
  async select(
    selector: VectorSelector,
    fromMs: number,
    untilMs: number,
  ): Promise<readonly SampleSeries[]> {
    const key = matchersKey(selector.matchers);
    let series = this.#known(key, fromMs, untilMs);
    if (series === undefined) {
      const found = this.#source.select(selector.matchers, { fromMs, untilMs });
      // Without a turn of the microtasks where they are here at once.
      series = found instanceof Promise ? await found : found;
      this.#keep(key, { fromMs, untilMs, series });
      if (this.isTurnOver()) await this.breathe();
    }
    return this.#ofCounts.has(selector) ? series.map(withDetectedHints) : series;
  }

  #known(key: string, fromMs: number, untilMs: number): readonly SampleSeries[] | undefined {
    const known = this.#reads
      .get(key)
      ?.find((read) => read.fromMs <= fromMs && read.untilMs >= untilMs);
    if (known === undefined) return undefined;
    const isSame = known.fromMs === fromMs && known.untilMs === untilMs;
    return isSame ? known.series : seriesWithin(known.series, fromMs, untilMs);
  }

  #keep(key: string, read: Read): void {
    const reads = this.#reads.get(key);
    if (reads === undefined) this.#reads.set(key, [read]);
    else reads.push(read);
    let count = 0;
    for (const { from, to, histograms } of read.series) {
      count += to - from;
      for (const histogram of histograms) count += sampleWeight(histogram);
    }
    this.charge(count);
  }

  /** Counts samples against the limit. @throws QueryError */
  charge(samples: number): void {
    this.#samples += samples;
    this.stats.peak = Math.max(this.stats.peak, this.#samples);
    if (this.#samples > this.options.maxSamples) throw tooManySamples();
  }

  /**
   * Bounds the memory of series while they are computed. Only the steps of subqueries are many.
   * @throws QueryError
   */
  checkCells(grid: Grid, series: number): void {
    const isMany = series > 1 || grid === this.#grid;
    const most = (isMany ? cellsPerSample : 1) * this.options.maxSamples;
    if (grid.steps * series > most) throw tooManySamples();
  }

  release(samples: number): void {
    this.#samples -= samples;
  }

  /** Whether to `breathe` after so many more cells, or samples, have been computed. */
  isDue(cells: number): boolean {
    this.#cells += cells;
    if (this.#cells < cellsPerLook) return false;
    this.#cells = 0;
    return this.isTurnOver();
  }

  /** Whether to `breathe`. */
  isTurnOver(): boolean {
    return performance.now() >= this.#turnEnd;
  }

  /** Lets other requests run, and stops a query that is late or abandoned. @throws QueryError */
  async breathe(): Promise<void> {
    const now = performance.now();
    if (now < this.#turnEnd) return;
    await setImmediate();
    this.#turnEnd = performance.now() + turnMs;
    if (this.options.signal?.aborted === true) {
      throw new QueryError('canceled', 'query was canceled in expression evaluation');
    }
    if (now > this.options.deadline) {
      throw new QueryError('timeout', 'query timed out in expression evaluation');
    }
  }

  /** @throws QueryError */
  durationMs(duration: Duration, { negative = false } = {}): number {
    const seconds = this.#seconds(duration);
    const { start, end } = duration;
    if (!Number.isFinite(seconds)) {
      throw executionError(`${start}:${end}: duration is NaN or infinite`);
    }
    if (seconds <= 0 && !negative) {
      throw executionError(`${start}:${end}: duration must be greater than 0`);
    }
    if (Math.abs(seconds) > maxSeconds) {
      throw executionError(`${start}:${end}: duration is out of range`);
    }
    return Math.trunc(Math.round(seconds * 1e6) / 1000);
  }

  offsetMs({ offset }: VectorSelector | Subquery): number {
    return offset === undefined ? 0 : this.durationMs(offset, { negative: true });
  }

  /** The time that `@` fixes; undefined = each step. */
  atMs({ at }: VectorSelector | Subquery): number | undefined {
    if (at === 'start') return this.times.startMs;
    return at === 'end' ? this.times.endMs : at;
  }

  #seconds(duration: Duration): number {
    switch (duration.kind) {
      case 'number':
        return duration.value;
      case 'negative':
        return -this.#seconds(duration.expr);
      case 'parens':
        return this.#seconds(duration.expr);
      case 'step':
        return this.times.stepMs / 1000;
      case 'length':
        return (this.times.endMs - this.times.startMs) / 1000;
      case 'duration':
        return combine(duration, this.#seconds(duration.left), this.#seconds(duration.right));
    }
  }
}

function tooManySamples(): QueryError {
  return executionError(
    'query processing would load too many samples into memory in query execution: ask for ' +
      'fewer series or a shorter range, or raise metrics.maxQuerySamples',
  );
}

const maxSeconds = 2 ** 63 / 1e9;

function combine(
  { op, start, end }: Span & Pick<Extract<Duration, { kind: 'duration' }>, 'op'>,
  left: number,
  right: number,
): number {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '^':
      return left ** right;
    case 'min_of':
      return Math.min(left, right);
    case 'max_of':
      return Math.max(left, right);
    case '/':
    case '%':
      if (right === 0) {
        const what = op === '/' ? 'division' : 'modulo';
        throw executionError(`${start}:${end}: ${what} by zero`);
      }
      return op === '/' ? left / right : left % right;
  }
}
