/** Warnings and infos of an evaluation, in the words of Prometheus; each is reported once. */
import { lineAndColumn } from './errors.ts';
import type { Span } from './parser/ast.ts';
import { formatShort } from './parser/numbers.ts';

export class Annotations {
  readonly #query: string;
  readonly #warnings = new Set<string>();
  readonly #infos = new Set<string>();
  readonly #forced = new Map<string, ForcedBuckets>();

  constructor(query: string) {
    this.#query = query;
  }

  warn(at: Span, text: string): void {
    this.#warnings.add(`PromQL warning: ${text} ${this.#place(at)}`);
  }

  info(at: Span, text: string): void {
    this.#infos.add(`PromQL info: ${text} ${this.#place(at)}`);
  }

  /** One info for all of one place and metric. */
  forcedMonotonicity(at: Span, metric: string, forced: ForcedBuckets): void {
    const text =
      'PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see ' +
      'https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)';
    const key = `${this.#place(at)}${text}${forMetric(metric)}`;
    const known = this.#forced.get(key);
    this.#forced.set(key, known === undefined ? forced : joinForced(known, forced));
  }

  warnings(): string[] {
    return [...this.#warnings];
  }

  infos(): string[] {
    const forced = [...this.#forced].map(([key, value]) => {
      const mark = key.indexOf(')') + 1;
      return `${key.slice(mark)}, ${forcedText(value)} ${key.slice(0, mark)}`;
    });
    return [...this.#infos, ...forced];
  }

  #place({ start }: Span): string {
    return `(${lineAndColumn(this.#query, start)})`;
  }
}

export function forMetric(name: string): string {
  return name === '' ? '' : ` for metric name ${JSON.stringify(name)}`;
}

export interface ForcedBuckets {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly lowest: number;
  readonly highest: number;
  readonly difference: number;
  readonly count: number;
}

function joinForced(left: ForcedBuckets, right: ForcedBuckets): ForcedBuckets {
  return {
    fromMs: Math.min(left.fromMs, right.fromMs),
    untilMs: Math.max(left.untilMs, right.untilMs),
    lowest: Math.min(left.lowest, right.lowest),
    highest: Math.max(left.highest, right.highest),
    difference: Math.max(left.difference, right.difference),
    count: left.count + right.count,
  };
}

function forcedText({ fromMs, untilMs, lowest, highest, difference, count }: ForcedBuckets) {
  const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  const seconds = (ms: number) => time(Math.floor(ms / 1000) * 1000);
  const buckets = `from buckets ${formatShort(lowest)} to ${formatShort(highest)}`;
  const most = formatShort(Number(difference.toPrecision(2)), 2);
  const samples = `over ${count} samples from ${seconds(fromMs)} to ${seconds(untilMs)}`;
  return `${buckets}, with a max diff of ${most}, ${samples}`;
}
