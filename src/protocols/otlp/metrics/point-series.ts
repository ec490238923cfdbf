/**
 * Finds the series of a data point by the bytes of its attributes, which senders repeat exactly, so
 * that labels are built, sorted and hashed only once.
 */
import { spellBounds } from '../../../codec/bound-labels.ts';
import { type LabelLimits, toCanonicalLabels, toSeries } from '../../../codec/series-labels.ts';
import type { SeriesMemo } from '../../../codec/series-memo.ts';
import { type Label, metricNameLabel } from '../../../model/metric-plan.ts';

const firstBytes = 4096;
/** Role and bound. */
const memberBytes = 9;

/** A series of a metric: its suffix, and the label that distinguishes it from the others. */
export interface Member {
  /** Distinguishes members in the memo; below 256. */
  readonly role: number;
  readonly suffix: string;
  readonly bound?: 'le' | 'quantile';
}

export const members = {
  value: { role: 0, suffix: '' },
  sum: { role: 1, suffix: '_sum' },
  count: { role: 2, suffix: '_count' },
  bucket: { role: 3, suffix: '_bucket', bound: 'le' },
  quantile: { role: 4, suffix: '', bound: 'quantile' },
} as const satisfies Record<string, Member>;

export class PointSeries {
  readonly memo: SeriesMemo;
  readonly #limits: LabelLimits;
  /** Digests of resource and scope, the name, the attributes, the member. */
  #key = Buffer.allocUnsafe(firstBytes);
  #metricEnd = 0;
  #pointEnd = 0;
  #name = '';
  #labels: Label[] | string | undefined;
  #readLabels: () => Label[] | string = () => [];

  constructor(memo: SeriesMemo, limits: LabelLimits) {
    this.memo = memo;
    this.#limits = limits;
  }

  /** @param digests of resource and scope */
  openMetric(name: string, digests: readonly Buffer[]): void {
    this.#name = name;
    this.#metricEnd = 0;
    this.#pointEnd = 0;
    this.#reserve(3 * name.length + 64);
    for (const digest of digests) this.#metricEnd += digest.copy(this.#key, this.#metricEnd);
    const nameBytes = this.#key.write(name, this.#metricEnd + 4);
    this.#key.writeUInt32LE(nameBytes, this.#metricEnd);
    this.#metricEnd += 4 + nameBytes;
  }

  /**
   * @param ranges of its attributes in the body
   * @param readLabels the labels without those of the member, or the fault; called at most once
   */
  openPoint(body: Buffer, ranges: readonly number[], readLabels: () => Label[] | string): void {
    let at = this.#metricEnd;
    this.#pointEnd = at;
    for (let range = 0; range < ranges.length; range += 2) {
      const [start, end] = [ranges[range]!, ranges[range + 1]!];
      this.#reserve(end - start + memberBytes);
      at += body.copy(this.#key, at, start, end);
      this.#pointEnd = at;
    }
    this.#reserve(memberBytes);
    this.#labels = undefined;
    this.#readLabels = readLabels;
  }

  /** @returns the number of the series in the memo until the next call, or the fault */
  find({ role, suffix, bound }: Member, value = 0): number | string {
    const key = this.#key;
    key[this.#pointEnd] = role;
    key.writeDoubleLE(value, this.#pointEnd + 1);
    const end = this.#pointEnd + memberBytes;
    const found = this.memo.find(key, 0, end);
    if (found >= 0) return found;
    this.#labels ??= this.#readLabels();
    if (typeof this.#labels === 'string') return this.#labels;
    const own: Label[] = [[metricNameLabel, this.#name + suffix]];
    if (bound !== undefined) own.push([bound, toBoundText(value)]);
    const names = new Set(own.map(([name]) => name));
    const others = this.#labels.filter(([name]) => !names.has(name));
    const labels = toCanonicalLabels(spellBounds([...others, ...own]), this.#limits);
    if (typeof labels === 'string') return labels;
    this.memo.trim();
    return this.memo.add(key, 0, end, toSeries(labels));
  }

  #reserve(bytes: number): void {
    const needed = this.#pointEnd + bytes;
    if (needed <= this.#key.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#key.length));
    this.#key.copy(grown, 0, 0, this.#pointEnd);
    this.#key = grown;
  }
}

function toBoundText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
