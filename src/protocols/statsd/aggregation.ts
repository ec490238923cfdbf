/**
 * Adds up the metrics of StatsD between two flushes, and writes them as an exposition, named as by
 * statsd_exporter (https://github.com/prometheus/statsd_exporter): counters count from the start of
 * Weir, timers are summaries in seconds.
 */
import type { LabelLimits } from '../../codec/series-labels.ts';
import { type MetricLine, type MetricType, parseMetricLine } from './metric-line.ts';

export interface AggregationOptions {
  readonly labels: LabelLimits;
  readonly maxSeries: number;
  /** A series without a line for this time is no longer written. */
  readonly forgetAfterMs: number;
}

interface Series {
  lastMs: number;
  /** Of a counter or a gauge; the sum of a summary. */
  value: number;
  /** Of a summary. */
  count: number;
  /** Values of a summary since the last flush. */
  observed: number[];
  /** Members of a set since the last flush. */
  readonly members: Set<string>;
}

interface Family {
  readonly type: MetricType;
  /** By labels. */
  readonly series: Map<string, Series>;
}

/** Why a line is not counted. */
export type LineFault = 'malformed' | 'conflict' | 'series' | 'values';

const quantiles = [0.5, 0.9, 0.99] as const;
/** Members of sets and values of summaries between two flushes. */
const maxHeld = 1_000_000;
/** A longer member counts as several. */
const memberLength = 64;

export class Aggregation {
  readonly #options: AggregationOptions;
  readonly #families = new Map<string, Family>();
  #seriesCount = 0;
  #held = 0;

  constructor(options: AggregationOptions) {
    this.#options = options;
  }

  /** @returns why the line is dropped, or undefined */
  add(line: string, nowMs: number): LineFault | undefined {
    const metric = parseMetricLine(line, this.#options.labels);
    if (metric === undefined) return 'malformed';
    const { name, type, labels } = metric;
    const family = this.#families.get(name) ?? { type, series: new Map<string, Series>() };
    if (family.type !== type) return 'conflict';
    let series = family.series.get(labels);
    if (series === undefined) {
      if (this.#seriesCount >= this.#options.maxSeries) return 'series';
      this.#seriesCount += 1;
      series = { lastMs: nowMs, value: 0, count: 0, observed: [], members: new Set() };
      family.series.set(labels, series);
      this.#families.set(name, family);
    }
    series.lastMs = nowMs;
    return this.#update(series, metric);
  }

  #update(series: Series, { type, values, scale, sampleRate }: MetricLine): LineFault | undefined {
    for (const sent of values) {
      const value = Number(sent) * scale;
      if (type === 'gauge') {
        series.value = /^[+-]/.test(sent) ? series.value + value : value;
      } else if (type === 'set') {
        if (series.members.has(sent)) continue;
        if (this.#held >= maxHeld) return 'values';
        // A copy: a part of a line would keep all of it in memory.
        series.members.add(Buffer.from(sent).toString());
        this.#held += 1 + Math.floor(sent.length / memberLength);
      } else {
        series.value += value / sampleRate;
        if (type === 'counter') continue;
        series.count += 1 / sampleRate;
        // Sum and count stay exact, the quantiles are those of what is held.
        if (this.#held >= maxHeld) continue;
        series.observed.push(value);
        this.#held += 1;
      }
    }
    return undefined;
  }

  /** @returns an exposition for each family, and starts over with what is not cumulative */
  flush(nowMs: number): Buffer[] {
    const texts: Buffer[] = [];
    for (const [name, { type, series }] of this.#families) {
      const lines = [`# TYPE ${name} ${type === 'set' ? 'gauge' : type}\n`];
      for (const [labels, one] of series) {
        if (one.lastMs < nowMs - this.#options.forgetAfterMs) {
          series.delete(labels);
          this.#seriesCount -= 1;
          continue;
        }
        lines.push(...samplesOf(name, labels, type, one).map((text) => `${text} ${nowMs}\n`));
        one.observed = [];
        one.members.clear();
      }
      if (series.size === 0) this.#families.delete(name);
      else texts.push(Buffer.from(lines.join('')));
    }
    this.#held = 0;
    return texts;
  }
}

function samplesOf(name: string, labels: string, type: MetricType, one: Series): string[] {
  const inBraces = labels === '' ? '' : `{${labels}}`;
  if (type === 'set') return [`${name}${inBraces} ${one.members.size}`];
  if (type !== 'summary') return [`${name}${inBraces} ${one.value}`];
  const sorted = Float64Array.from(one.observed).sort();
  const before = labels === '' ? '' : `${labels},`;
  const shares = sorted.length === 0 ? [] : quantiles;
  return [
    ...shares.map((share) => {
      const value = sorted[Math.ceil(share * sorted.length) - 1]!;
      return `${name}{${before}quantile="${share}"} ${value}`;
    }),
    `${name}_sum${inBraces} ${one.value}`,
    `${name}_count${inBraces} ${one.count}`,
  ];
}
