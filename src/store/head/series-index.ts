/** The series of a stream on recent days: found by id, and by their labels. */

import type { Label, LabelMatcher, Selector } from '../../model/metric-plan.ts';
import { compareLabels, type Labels, labelValue } from '../../promql/labels.ts';
import { matches, matchersKey } from '../../promql/matchers.ts';
import type { SampleColumns } from './sample-columns.ts';

export interface IndexedSeries {
  /** The four halves of its id's halves, lowest first. */
  readonly id: Uint32Array;
  readonly labels: Labels;
  /** Days since 1970 with a sample. */
  readonly days: number[];
  /** Place in the order of labels. */
  rank: number;
  hasHistograms: boolean;
  /** Its samples, if they are in memory. */
  columns: SampleColumns | undefined;
}

/** One array for all series, so that a query reads few of them from memory. */
interface SharedLabel {
  readonly label: Label;
  readonly series: IndexedSeries[];
}

const firstSlots = 1024;
/** Series and characters in all selections that are kept. */
const mostKept = 1_000_000;

export class SeriesIndex {
  readonly #all: IndexedSeries[] = [];
  /** By names and values of labels. */
  readonly #byLabel = new Map<string, Map<string, SharedLabel>>();
  /** Positions in `#all` plus one, by the lowest bits of ids; 0 is free. */
  #slots = new Uint32Array(firstSlots);
  /** Whether `#all` is in the order of labels. */
  #isSorted = true;
  /** What selectors found since the last change. */
  readonly #selections = new Map<string, readonly IndexedSeries[]>();
  #kept = 0;

  get size(): number {
    return this.#all.length;
  }

  all(): readonly IndexedSeries[] {
    return this.#all;
  }

  /** @param id four words, lowest first, from an index of `words` on */
  byId(words: Uint32Array, at: number): IndexedSeries | undefined {
    const found = this.#slots[this.#slotOf(words, at)]!;
    return found === 0 ? undefined : this.#all[found - 1];
  }

  add(id: Uint32Array, labels: Labels, days: Iterable<number>): IndexedSeries {
    const known = this.byId(id, 0);
    if (known !== undefined) {
      for (const day of days) {
        if (known.days.includes(day)) continue;
        known.days.push(day);
        this.#forgetSelections();
      }
      return known;
    }
    this.#forgetSelections();
    const shared = labels.map((label) => this.#share(label));
    const series: IndexedSeries = {
      id,
      labels: shared.map(({ label }) => label),
      days: [...days],
      rank: 0,
      hasHistograms: false,
      columns: undefined,
    };
    this.#all.push(series);
    for (const one of shared) one.series.push(series);
    this.#isSorted = false;
    if (this.#all.length * 2 > this.#slots.length) this.#rebuildSlots(this.#slots.length * 2);
    else this.#slots[this.#slotOf(id, 0)] = this.#all.length;
    return series;
  }

  /**
   * Sorted by labels.
   * @param selectors any of them matches; empty = every series. @throws Error for a bad pattern
   */
  find(
    selectors: readonly Selector[],
    fromDay: number,
    untilDay: number,
  ): readonly IndexedSeries[] {
    const key = `${fromDay} ${untilDay} ${selectors.map(matchersKey).join(' ')}`;
    let found = this.#selections.get(key);
    if (found === undefined) {
      found = this.#select(selectors, fromDay, untilDay);
      if (this.#kept > mostKept) this.#forgetSelections();
      this.#selections.set(key, found);
      this.#kept += found.length + key.length;
    }
    return found;
  }

  #select(
    selectors: readonly Selector[],
    fromDay: number,
    untilDay: number,
  ): readonly IndexedSeries[] {
    this.#sort();
    const isThen = ({ days }: IndexedSeries) => {
      for (let i = 0; i < days.length; i++) {
        if (days[i]! >= fromDay && days[i]! <= untilDay) return true;
      }
      return false;
    };
    const [only] = selectors;
    if (only === undefined) return this.#all.filter(isThen);
    if (selectors.length > 1) {
      const tests = selectors.map((selector) => testOf(selector));
      return this.#all.filter((one) => isThen(one) && tests.some((test) => test(one.labels)));
    }
    const { candidates, rest } = this.#candidates(only);
    const test = testOf(rest);
    return candidates
      .filter((one) => isThen(one) && test(one.labels))
      .sort((left, right) => left.rank - right.rank);
  }

  #forgetSelections(): void {
    this.#selections.clear();
    this.#kept = 0;
  }

  #share(label: Label): SharedLabel {
    const [name, value] = label;
    const byValue = this.#byLabel.get(name) ?? new Map<string, SharedLabel>();
    this.#byLabel.set(name, byValue);
    const shared = byValue.get(value) ?? { label, series: [] };
    byValue.set(value, shared);
    return shared;
  }

  /** The fewest series with the value of a matcher, and the matchers that remain to be tested. */
  #candidates(selector: Selector): { candidates: readonly IndexedSeries[]; rest: Selector } {
    let candidates: readonly IndexedSeries[] = this.#all;
    let best: LabelMatcher | undefined;
    for (const matcher of selector) {
      const { name, type, value } = matcher;
      if (type !== 'equal' || value === '') continue;
      const found = this.#byLabel.get(name)?.get(value)?.series ?? [];
      if (best !== undefined && found.length >= candidates.length) continue;
      candidates = found;
      best = matcher;
    }
    return { candidates, rest: selector.filter((matcher) => matcher !== best) };
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    const byLabels = (left: IndexedSeries, right: IndexedSeries) =>
      compareLabels(left.labels, right.labels);
    this.#all.sort(byLabels);
    for (const [rank, series] of this.#all.entries()) series.rank = rank;
    this.#rebuildSlots(this.#slots.length);
  }

  #rebuildSlots(count: number): void {
    this.#slots = new Uint32Array(count);
    for (const [i, { id }] of this.#all.entries()) this.#slots[this.#slotOf(id, 0)] = i + 1;
  }

  /** Where it is, or the free place where it belongs. Ids are hashes, hence spread evenly. */
  #slotOf(words: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = words[at]! & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot]!;
      if (found === 0) return slot;
      const { id } = this.#all[found - 1]!;
      if (
        id[0] === words[at] &&
        id[1] === words[at + 1] &&
        id[2] === words[at + 2] &&
        id[3] === words[at + 3]
      ) {
        return slot;
      }
    }
  }
}

/** Tests a pattern once for each value. */
function testOf(selector: Selector): (labels: Labels) => boolean {
  const tests = selector.map((matcher) => {
    const { name, type } = matcher;
    if (type === 'equal' || type === 'notEqual') {
      return (labels: Labels) => matches(matcher, labelValue(labels, name));
    }
    return memoized(matcher);
  });
  return (labels) => tests.every((test) => test(labels));
}

function memoized(matcher: LabelMatcher): (labels: Labels) => boolean {
  const known = new Map<string, boolean>();
  return (labels) => {
    const value = labelValue(labels, matcher.name);
    let isMatch = known.get(value);
    if (isMatch === undefined) {
      isMatch = matches(matcher, value);
      known.set(value, isMatch);
    }
    return isMatch;
  };
}
