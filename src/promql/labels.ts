/** Sets of labels: sorted by name, without empty values. */
import { type Label, metricNameLabel } from '../model/metric-plan.ts';
import { createTextMemo } from '../std/text-memo.ts';

export type Labels = readonly Label[];

export const noLabels: Labels = [];

/** Describe the metric itself, hence do not survive arithmetic. */
export const metadataLabels: readonly string[] = [metricNameLabel, '__type__', '__unit__'];

export function toLabels(labels: Iterable<Label>): Labels {
  return [...labels]
    .filter(([, value]) => value !== '')
    .sort(([left], [right]) => compareText(left, right));
}

export function labelValue(labels: Labels, name: string): string {
  // Without an iterator: most of the time of a wide query goes into this loop.
  const first = name.charCodeAt(0);
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!;
    if (label[0] === name) return label[1];
    // Names are in order.
    if (label[0].charCodeAt(0) > first) break;
  }
  return '';
}

export function metricName(labels: Labels): string {
  return labelValue(labels, metricNameLabel);
}

/** Of some 60,000 series. */
const mostKeyCharacters = 16_000_000;

/** Equal exactly for equal labels. */
export const labelsKey: (labels: Labels) => string = createTextMemo(joinLabels, mostKeyCharacters);

function joinLabels(labels: Labels): string {
  let key = '';
  // U+FFFF is no character.
  for (const [name, value] of labels) key += `${name}\uFFFF${value}\uFFFF`;
  return key;
}

/** Series of one group have the same labels of these names, or the same other ones. */
export interface Grouping {
  /** Equal exactly for the series of one group. */
  readonly keyOf: (labels: Labels) => string;
  /** The labels that the series of a group have in common. */
  readonly labelsOf: (labels: Labels) => Labels;
}

/** @param without by all labels but these */
export function groupingBy(names: readonly string[], without: boolean): Grouping {
  const set = new Set(names);
  return without
    ? { keyOf: (labels) => droppedKey(labels, set), labelsOf: (labels) => dropLabels(labels, set) }
    : { keyOf: (labels) => keptKey(labels, set), labelsOf: (labels) => keepLabels(labels, set) };
}

/** Equal exactly where `keepLabels` leaves equal labels. */
function keptKey(labels: Labels, names: ReadonlySet<string>): string {
  if (names.size === 1) for (const name of names) return labelValue(labels, name);
  let key = '';
  for (const name of names) key += `${labelValue(labels, name)}\uFFFF`;
  return key;
}

/** Equal exactly where `dropLabels` leaves equal labels. */
function droppedKey(labels: Labels, names: ReadonlySet<string>): string {
  let key = '';
  for (const [name, value] of labels) {
    if (!names.has(name)) key += `${name}\uFFFF${value}\uFFFF`;
  }
  return key;
}

export function compareLabels(left: Labels, right: Labels): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [leftName, leftValue] = left[i]!;
    const [rightName, rightValue] = right[i]!;
    const order = compareText(leftName, rightName) || compareText(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function withoutMetadata(labels: Labels): Labels {
  return labels.filter(([name]) => !metadataLabels.includes(name));
}

/** Whether the labels that describe the metric itself are the same. */
export function isOfOneMetric(series: readonly { readonly labels: Labels }[]): boolean {
  const [first] = series;
  if (first === undefined) return true;
  const values = metadataLabels.map((name) => labelValue(first.labels, name));
  const shared = onlyMetadata(first.labels);
  for (const { labels } of series) {
    // Stored series share their labels.
    if (shared !== undefined && onlyMetadata(labels) === shared) continue;
    if (!metadataLabels.every((name, i) => labelValue(labels, name) === values[i])) return false;
  }
  return true;
}

/** The label that describes the metric; undefined if it is not the first or not the only one. */
function onlyMetadata([first, second]: Labels): Label | undefined {
  if (first?.[0] !== metricNameLabel) return undefined;
  return second === undefined || second[0] > lastMetadataLabel ? first : undefined;
}

const lastMetadataLabel = '__unit__';

function keepLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labels.filter(([name]) => names.has(name));
}

export function dropLabels(labels: Labels, names: ReadonlySet<string>): Labels {
  return labels.filter(([name]) => !names.has(name));
}

/** An empty value removes the label. */
export function withLabel(labels: Labels, name: string, value: string): Labels {
  const others = labels.filter(([label]) => label !== name);
  return value === '' ? others : toLabels([...others, [name, value]]);
}

const plainName = /^[a-z_:][a-z0-9_:]*$/i;

/** As in messages: `{__name__="up", job="api"}`. */
export function labelsText(labels: Labels): string {
  const pairs = labels.map(([name, value]) => `${quoteName(name)}=${JSON.stringify(value)}`);
  return `{${pairs.join(', ')}}`;
}

/** A name as it is, or in quotes where it is not a plain word. */
export function quoteName(name: string): string {
  return plainName.test(name) && !name.includes(':') ? name : JSON.stringify(name);
}

export function isPlainMetricName(name: string): boolean {
  return plainName.test(name);
}
