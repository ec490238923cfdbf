/** Writes a data point as the samples that Prometheus would have of it. */
import type { MetricWriter, Time } from '../../../codec/metric-writer.ts';
import { SeriesRows } from '../../../codec/series-rows.ts';
import type { DecodeContext } from '../../../model/protocol.ts';
import type { WarningCounts } from '../log-record.ts';
import { type DataPoint, type PointKind, toTime } from './data-point.ts';
import { deltaKey, type DeltaTotals } from './delta-totals.ts';
import { MessageBuilder } from '../message-builder.ts';
import { faultOf, NativeHistogram } from './native-histogram.ts';
import type { PointExemplar } from './point-exemplars.ts';
import { type Member, members, type PointSeries } from './point-series.ts';

/** What the points of a metric have in common. */
export interface MetricKind {
  readonly kind: PointKind;
  readonly isDelta: boolean;
  /** False for sums that may fall. */
  readonly isMonotonic: boolean;
}

export interface NumberTotal {
  value: number;
}

/** Shared by all requests. */
export interface Totals {
  readonly numbers: DeltaTotals<NumberTotal>;
  readonly histograms: DeltaTotals<NativeHistogram>;
}

interface PointRowsParts {
  readonly writer: MetricWriter;
  readonly series: PointSeries;
  readonly totals: Totals;
  readonly maxLabelBytes: number;
  readonly warnings: WarningCounts;
}

/** A point that is not stored, with the reason. */
export interface Fault {
  readonly reason: string;
  readonly example: string;
}

const overlap = 'delta points that overlap in time, added up';
const fault = (reason: string, example = ''): Fault => ({ reason, example });
/** Prometheus distinguishes two NaN: no number, and the end of a series. Little-endian. */
const nanBits = Buffer.from('010000000000f87f', 'hex');
const staleBits = Buffer.from('020000000000f07f', 'hex');
const zeroBits = Buffer.alloc(8);
/** More buckets are a mistake, and each is a series. */
const maxBuckets = 1000;
/** Of a native histogram with some hundred buckets. */
const histogramBytes = 512;

export class PointRows {
  readonly #parts: PointRowsParts;
  readonly #context: DecodeContext;
  readonly #rows: SeriesRows;
  /** The sum of a native histogram. */
  readonly #bits = Buffer.alloc(8);
  readonly #builder = new MessageBuilder(histogramBytes);
  /** Number of the series in the memo. */
  #number = 0;

  constructor(parts: PointRowsParts, context: DecodeContext) {
    const { writer, series, maxLabelBytes } = parts;
    this.#parts = parts;
    this.#context = context;
    this.#rows = new SeriesRows({ writer, view: context.series, memo: series.memo, maxLabelBytes });
  }

  /**
   * @param point opened in the `PointSeries`
   * @param exemplars in the order sent
   * @returns undefined if it was written; parts of it may have been before a fault
   */
  write(
    point: DataPoint,
    metric: MetricKind,
    exemplars: readonly PointExemplar[],
  ): Fault | undefined {
    switch (metric.kind) {
      case 'gauge':
      case 'sum':
        return this.#writeNumber(point, metric, exemplars);
      case 'summary':
        return this.#writeSummary(point, metric);
      case 'histogram':
        return this.#writeHistogram(point, metric, exemplars);
      default:
        return this.#writeExponential(point, metric, exemplars);
    }
  }

  /** A sample of a gauge or counter that is no part of a point, as of `target_info`. */
  writeOne(timeMs: number): Fault | undefined {
    return this.#open(members.value, 0) ?? this.#write(toTime(timeMs), 1);
  }

  #writeNumber(
    point: DataPoint,
    metric: MetricKind,
    exemplars: readonly PointExemplar[],
  ): Fault | undefined {
    if (!point.hasValue && !point.isStale) return fault('data point without a value');
    const failed = this.#sample(members.value, 0, { point, metric, value: point.value });
    return failed ?? this.#writeExemplars(exemplars);
  }

  #writeSummary(point: DataPoint, metric: MetricKind): Fault | undefined {
    const { quantiles } = point;
    const pairs = quantiles.length / 2;
    if (pairs > maxBuckets) return tooMany('too many quantiles', pairs);
    let failed = this.#sample(members.count, 0, { point, metric, value: point.count });
    failed ??= this.#sample(members.sum, 0, { point, metric, value: point.sum });
    for (let i = 0; i < quantiles.length; i += 2) {
      const value = quantiles[i + 1]!;
      failed ??= this.#sample(members.quantile, quantiles[i]!, { point, metric, value });
    }
    return failed;
  }

  /** Buckets become cumulative over their bounds, each with the exemplars that fall in it. */
  #writeHistogram(
    point: DataPoint,
    metric: MetricKind,
    exemplars: readonly PointExemplar[],
  ): Fault | undefined {
    const { counts, bounds, count } = point;
    const failed = faultOfBuckets(counts, bounds);
    if (failed !== undefined) return failed;
    const left = [...exemplars].sort((a, b) => a.number - b.number);
    const writeBucket = (bound: number, value: number): Fault | undefined => {
      const later = left.findIndex(({ number }) => number > bound);
      const own = left.splice(0, later < 0 ? left.length : later);
      const refused = this.#sample(members.bucket, bound, { point, metric, value });
      return refused ?? this.#writeExemplars(own);
    };
    // First the bucket of all labels that any has: if it can be stored, so can the others.
    let refused = this.#open(members.bucket, Number.POSITIVE_INFINITY);
    refused ??= this.#sample(members.count, 0, { point, metric, value: count });
    if (point.hasSum) {
      refused ??= this.#sample(members.sum, 0, { point, metric, value: point.sum });
    }
    let observed = 0;
    for (let i = 0; i < bounds.length && i < counts.length; i += 1) {
      observed += counts[i]!;
      refused ??= writeBucket(bounds[i]!, observed);
    }
    return refused ?? writeBucket(Number.POSITIVE_INFINITY, count);
  }

  #writeExponential(
    point: DataPoint,
    metric: MetricKind,
    exemplars: readonly PointExemplar[],
  ): Fault | undefined {
    const bad = point.isStale ? '' : faultOf(point);
    if (bad !== '') return fault('bad histogram', bad);
    const unknown = this.#open(members.value, 0);
    if (unknown !== undefined) return unknown;
    let histogram = new NativeHistogram();
    if (metric.isDelta && !point.isStale) {
      const { kind, total } = this.#takeTurn(this.#parts.totals.histograms, point, () => histogram);
      if (kind === 'late') return late(point);
      if (kind === 'first' && !this.#writeZero(point, new NativeHistogram())) {
        return this.#overLimit();
      }
      if (kind !== 'repeated') total.add(point);
      histogram = total;
    } else {
      histogram.add(point);
    }
    if (Number.isNaN(histogram.sum)) nanBits.copy(this.#bits);
    else this.#bits.writeDoubleLE(histogram.sum);
    const bits = point.isStale ? staleBits : this.#bits;
    const message = histogram.encode(this.#builder, point.timeMs, bits);
    if (!this.#rows.histogram(toTime(point.timeMs), message)) return this.#overLimit();
    return this.#writeExemplars(exemplars);
  }

  /** Selects the series that is written. @returns why it cannot be stored */
  #open(member: Member, bound: number): Fault | undefined {
    const number = this.#parts.series.find(member, bound);
    if (typeof number === 'string') return fault(number);
    this.#rows.open(number);
    this.#number = number;
    return undefined;
  }

  /** Writes the value of a series, or its total. */
  #sample(
    member: Member,
    bound: number,
    {
      point,
      metric,
      value,
    }: {
      readonly point: DataPoint;
      readonly metric: MetricKind;
      readonly value: number;
    },
  ): Fault | undefined {
    const unknown = this.#open(member, bound);
    if (unknown !== undefined) return unknown;
    const time = toTime(point.timeMs);
    if (point.isStale) return this.#rows.sample(time, staleBits) ? undefined : this.#overLimit();
    if (!metric.isDelta) return this.#write(time, value);
    const { numbers } = this.#parts.totals;
    const { kind, total } = this.#takeTurn(numbers, point, () => ({ value: 0 }));
    if (kind === 'late') return late(point);
    if (kind === 'first' && metric.isMonotonic && !this.#writeZero(point)) {
      return this.#overLimit();
    }
    if (kind !== 'repeated') total.value += value;
    return this.#write(time, total.value);
  }

  #takeTurn<Total>(totals: DeltaTotals<Total>, point: DataPoint, createTotal: () => Total) {
    const { streamId } = this.#context.series;
    const key = deltaKey(streamId, this.#parts.series.memo.ids, 4 * this.#number);
    const turn = totals.turn(key, point, createTotal);
    if (turn.kind === 'overlapping') this.#parts.warnings.add(overlap);
    return turn;
  }

  /**
   * A total that begins is zero just after its start, which may be the time of the last sample of
   * an earlier total. @returns false if the account is at its limit of series
   */
  #writeZero({ startMs, timeMs }: DataPoint, zero?: NativeHistogram): boolean {
    const zeroMs = startMs + 1;
    if (startMs === 0 || zeroMs >= timeMs) return true;
    const time = toTime(zeroMs);
    if (zero === undefined) return this.#rows.number(time, 0);
    return this.#rows.histogram(time, zero.encode(this.#builder, zeroMs, zeroBits));
  }

  #write(time: Time, value: number): Fault | undefined {
    return this.#rows.number(time, value) ? undefined : this.#overLimit();
  }

  /** To the series written last. */
  #writeExemplars(exemplars: readonly PointExemplar[]): Fault | undefined {
    for (const exemplar of exemplars) {
      if (!this.#rows.exemplar(exemplar)) return this.#overLimit();
    }
    return undefined;
  }

  #overLimit(): Fault {
    const { maxSeries } = this.#context.series;
    const example = `more than ${maxSeries} a day, see metrics.maxSeriesPerAccount`;
    return fault('series limit', example);
  }
}

function late({ timeMs }: DataPoint): Fault {
  const time = new Date(timeMs).toISOString();
  return fault('delta point older than the last of its series', `of ${time}`);
}

function tooMany(reason: string, count: number): Fault {
  return fault(reason, `${count}, more than ${maxBuckets}`);
}

/** Counts of one bucket more than bounds, or no buckets at all. */
function faultOfBuckets(counts: readonly number[], bounds: readonly number[]): Fault | undefined {
  if (bounds.length > maxBuckets) return tooMany('too many buckets', bounds.length);
  if (counts.length > 0 && counts.length !== bounds.length + 1) {
    return fault('bad histogram', `${counts.length} bucket counts for ${bounds.length} bounds`);
  }
  const isSorted = bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]!);
  return isSorted ? undefined : fault('bad histogram', 'its bounds do not ascend');
}
