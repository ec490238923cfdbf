/** What the rules of families ask of a series each time; worked out when it is first seen. */
import { metricNameLabel } from '../../codec/series-labels.ts';
import type { Label } from '../../model/metric-plan.ts';
import { NumberScanner } from './number-scanner.ts';

export interface SeriesFacts {
  readonly name: string;
  /** The number in the label of that name: NaN where it is none, undefined where there is none. */
  readonly le: number | undefined;
  readonly quantile: number | undefined;
  /** Of parts of a histogram: all labels but `__name__` and `le`, as one text; else ''. */
  readonly group: string;
  /** Whether a label is named as the metric is: a state of a state set. */
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
