/**
 * Labels of a series, with the metric name as `__name__`
 * (https://prometheus.io/docs/concepts/data_model): the canonical form and the id derived from it.
 */
import { hash } from 'node:crypto';
import { type Label, metricNameLabel } from '../model/metric-plan.ts';

export interface LabelLimits {
  readonly maxLabels: number;
  /** In UTF-16 units. */
  readonly maxLabelNameLength: number;
  /** In UTF-16 units. */
  readonly maxLabelValueLength: number;
}

export interface Series {
  /** A UInt128 as four words, the lowest first. */
  readonly id: Uint32Array;
  /** RowBinary `Map(String, String)`, sorted by name. */
  readonly labels: Uint8Array;
}

/**
 * Sorts the labels and drops those with an empty value, which equal absent ones.
 * @returns the labels, or the reason to reject the series, without data of the sender
 */
export function toCanonicalLabels(labels: readonly Label[], limits: LabelLimits): Label[] | string {
  const sorted = toSortedLabels(labels, limits);
  if (typeof sorted === 'string') return sorted;
  return sorted.some(([name]) => name === metricNameLabel) ? sorted : 'no metric name';
}

/** Like `toCanonicalLabels`, for the labels of an exemplar, which need no metric name. */
export function toSortedLabels(labels: readonly Label[], limits: LabelLimits): Label[] | string {
  const sorted = labels.filter(([, value]) => value !== '').sort(([a], [b]) => compareUtf8(a, b));
  if (sorted.length > limits.maxLabels) return 'too many labels';
  for (const [index, [name, value]] of sorted.entries()) {
    if (name === '') return 'empty label name';
    if (name === sorted[index - 1]?.[0]) return 'repeated label name';
    if (name.length > limits.maxLabelNameLength) return 'label name too long';
    if (value.length > limits.maxLabelValueLength) return 'label value too long';
  }
  return sorted;
}

/**
 * The id is the first half of the SHA-256 of the stored labels. It is stored in tables, so that its
 * derivation must never change.
 * @param labels in canonical form
 */
export function toSeries(labels: readonly Label[]): Series {
  const bytes = encodeLabels(labels);
  const digest = hash('sha256', bytes, 'buffer');
  const id = new Uint32Array(4);
  for (let word = 0; word < 4; word += 1) id[word] = digest.readUInt32LE(word * 4);
  return { id, labels: bytes };
}

/** RowBinary `Map(String, String)`. */
export function encodeLabels(labels: readonly Label[]): Uint8Array {
  let bound = maxVarintBytes;
  for (const [name, value] of labels) {
    bound += 3 * (name.length + value.length) + 2 * maxVarintBytes;
  }
  const bytes = Buffer.allocUnsafe(bound);
  let at = writeVarint(bytes, 0, labels.length);
  for (const [name, value] of labels) at = writeText(bytes, writeText(bytes, at, name), value);
  return Uint8Array.from(bytes.subarray(0, at));
}

const maxVarintBytes = 5;

function writeText(bytes: Buffer, at: number, text: string): number {
  const start = writeVarint(bytes, at, Buffer.byteLength(text));
  return start + bytes.write(text, start, 'utf8');
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
  bytes[at++] = rest;
  return at;
}

/** Order by UTF-8 bytes, which differs from string order for surrogates. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const difference = toCodePointRank(a.charCodeAt(i)) - toCodePointRank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates encode the highest code points. */
function toCodePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
