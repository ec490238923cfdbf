/** Samples in memory, for tests of the evaluator. */
import type { Histogram } from '../../src/promql/histogram/histogram.ts';
import {
  compareLabels,
  type Labels,
  labelsKey,
  labelValue,
  withLabel,
} from '../../src/promql/labels.ts';
import { matches } from '../../src/promql/matchers.ts';
import type { SampleSource } from '../../src/promql/source.ts';
import { detectsReset } from '../../src/promql/histogram/histogram-resets.ts';
import { noBuckets, toBuckets, withHint } from '../../src/promql/histogram/histogram.ts';
import type { ScriptSeries, ScriptValue } from './series-text.ts';

type Sample = readonly [timeMs: number, value: number | Histogram | 'stale'];

interface Stored {
  readonly labels: Labels;
  readonly samples: Map<number, number | Histogram | 'stale'>;
}

export class MemorySource implements SampleSource {
  readonly #series = new Map<string, Stored>();

  clear(): void {
    this.#series.clear();
  }

  load({ labels, values }: ScriptSeries, stepMs: number): void {
    for (const [i, value] of values.entries()) this.add(labels, i * stepMs, value);
  }

  add(labels: Labels, timeMs: number, value: ScriptValue): void {
    if (value === undefined) return;
    const key = labelsKey(labels);
    const stored = this.#series.get(key) ?? { labels, samples: new Map() };
    stored.samples.set(timeMs, value);
    this.#series.set(key, stored);
  }

  select: SampleSource['select'] = async (matchers, { fromMs, untilMs }) =>
    [...this.#series.values()]
      .filter(({ labels }) =>
        matchers.every((matcher) => matches(matcher, labelValue(labels, matcher.name))),
      )
      .sort((left, right) => compareLabels(left.labels, right.labels))
      .map(({ labels, samples }) => {
        const all = [...samples].sort(([left], [right]) => left - right);
        const within = withHints(all).filter(([timeMs]) => timeMs >= fromMs && timeMs <= untilMs);
        const floats = within.filter(([, value]) => typeof value !== 'object');
        const histograms = within.filter(([, value]) => typeof value === 'object');
        return {
          labels,
          times: Float64Array.from(floats, ([timeMs]) => timeMs),
          values: toValues(floats.map(([, value]) => value)),
          from: 0,
          to: floats.length,
          histogramTimes: Float64Array.from(histograms, ([timeMs]) => timeMs),
          histograms: histograms.map(([, value]) => value as Histogram),
        };
      });
}

function toValues(values: readonly (number | Histogram | 'stale')[]): Float64Array {
  const floats = Float64Array.from(values, (value) => (typeof value === 'number' ? value : 0));
  const bits = new BigUint64Array(floats.buffer);
  for (const [i, value] of values.entries()) if (value === 'stale') bits[i] = 0x7ff0000000000002n;
  return floats;
}

/** Prometheus' storage tells of each histogram of a counter whether it was reset. */
function withHints(samples: readonly Sample[]): Sample[] {
  return samples.map(([timeMs, value], i) => {
    const before = samples[i - 1]?.[1];
    if (typeof value !== 'object' || typeof before !== 'object') return [timeMs, value];
    if (value.hint !== 'unknown') return [timeMs, value];
    return [timeMs, withHint(value, detectsReset(value, before) ? 'unknown' : 'not_reset')];
  });
}

interface Classic {
  readonly labels: Labels;
  readonly buckets: Map<number, number>;
  count: number | undefined;
  sum: number | undefined;
}

/** Adds histograms with custom buckets made of the classic ones. */
export function loadCustomBuckets(
  source: MemorySource,
  all: readonly ScriptSeries[],
  stepMs: number,
): void {
  const byTime = new Map<string, Map<number, Classic>>();
  for (const { labels, values } of all) {
    const found = /^(.*)_(bucket|count|sum)$/.exec(labelValue(labels, '__name__'));
    if (found === null) continue;
    const base = withLabel(withLabel(labels, 'le', ''), '__name__', found[1]!);
    const times = byTime.get(labelsKey(base)) ?? new Map<number, Classic>();
    byTime.set(labelsKey(base), times);
    for (const [i, value] of values.entries()) {
      if (typeof value !== 'number') continue;
      const classic = times.get(i) ?? {
        labels: base,
        buckets: new Map<number, number>(),
        count: undefined,
        sum: undefined,
      };
      times.set(i, classic);
      const le = labelValue(labels, 'le');
      const bound = le === '+Inf' ? Infinity : Number(le === '' ? Number.NaN : le);
      if (found[2] === 'bucket' && !Number.isNaN(bound)) classic.buckets.set(bound, value);
      else if (found[2] === 'count') classic.count = value;
      else if (found[2] === 'sum') classic.sum = value;
    }
  }
  for (const times of byTime.values()) {
    for (const [i, classic] of times) source.add(classic.labels, i * stepMs, toCustom(classic));
  }
}

function toCustom({ buckets, count, sum = 0 }: Classic): Histogram {
  const bounds = [...buckets.keys()].filter(Number.isFinite).sort((a, b) => a - b);
  const last = bounds.length === 0 ? 0 : buckets.get(bounds.at(-1)!)!;
  const total = count ?? buckets.get(Infinity) ?? last;
  const cumulative = [...bounds.map((bound) => buckets.get(bound)!), total];
  const counts = cumulative.map((value, i) => [i, value - (cumulative[i - 1] ?? 0)] as const);
  return {
    hint: 'unknown',
    schema: -53,
    zeroThreshold: 0,
    zeroCount: 0,
    count: total,
    sum,
    positive: toBuckets(counts),
    negative: noBuckets,
    bounds,
  };
}
