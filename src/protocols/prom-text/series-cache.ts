/** Caches valid series of one format by their text, which senders repeat with each push. */
import { toSeries } from '../../codec/series-labels.ts';
import { type Label, metricNameLabel } from '../../model/metric-plan.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { NumberScanner } from './numbers.ts';

/** About half a kilobyte each, plus their text. */
const maxSeries = 200_000;
const maxBytes = 48 * 1024 * 1024;

export class SeriesCache extends SeriesMemo {
  /** By number in the memo. */
  #facts: SeriesFacts[] = [];

  constructor() {
    super({ maxBytes, maxSeries });
  }

  /** Like `add`. @param labels in canonical form, parsed from the text in [start, end) */
  addLabels(bytes: Buffer, start: number, end: number, labels: readonly Label[]): number {
    const series = this.add(bytes, start, end, toSeries(labels));
    // The memo restarts its numbers when it is trimmed.
    if (series === 0) this.#facts = [];
    this.#facts[series] = toSeriesFacts(labels);
    return series;
  }

  factsOf(series: number): SeriesFacts {
    return this.#facts[series]!;
  }
}

/** Properties of a series that the rules of families check with each sample. */
export interface SeriesFacts {
  readonly name: string;
  /** Value of the label `le`: NaN if it is not a number, undefined if it is absent. */
  readonly le: number | undefined;
  readonly quantile: number | undefined;
  /** For parts of a histogram: all labels but `__name__` and `le` as one text; else ''. */
  readonly group: string;
  /** Whether a label has the name of the metric: a state of a state set. */
  readonly isState: boolean;
}

const histogramPart = /_(?:bucket|count|sum|gcount|gsum|created)$/;

/** @param labels in canonical form. */
export function toSeriesFacts(labels: readonly Label[]): SeriesFacts {
  const name = valueOf(labels, metricNameLabel) ?? '';
  return {
    name,
    le: toNumber(valueOf(labels, 'le')),
    quantile: toNumber(valueOf(labels, 'quantile')),
    group: histogramPart.test(name) ? toGroup(labels) : '',
    isState: valueOf(labels, name) !== undefined,
  };
}

function valueOf(labels: readonly Label[], name: string): string | undefined {
  return labels.find((label) => label[0] === name)?.[1];
}

function toNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text);
  const scanner = new NumberScanner();
  return scanner.scan(bytes, 0) === bytes.length ? scanner.value : Number.NaN;
}

function toGroup(labels: readonly Label[]): string {
  return JSON.stringify(labels.filter(([name]) => name !== metricNameLabel && name !== 'le'));
}
