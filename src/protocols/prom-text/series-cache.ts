/**
 * Series by the text that names them, for one format: what a sender repeats push after push is
 * found by its bytes. What is found was read without fault before.
 */
import { toSeries } from '../../codec/series-labels.ts';
import type { Label } from '../../model/metric-plan.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { type SeriesFacts, toSeriesFacts } from './series-facts.ts';

/** About half a kilobyte each, besides their text. */
const maxSeries = 200_000;
const maxBytes = 48 * 1024 * 1024;

export class SeriesCache {
  readonly #memo = new SeriesMemo({ maxBytes, maxSeries });
  /** By number in the memo. */
  #facts: SeriesFacts[] = [];

  /** Words of ids; that of a series begins at four times its number. */
  get ids(): Uint32Array {
    return this.#memo.ids;
  }

  /** @returns the number of the series, or -1; numbers hold until `trim`. */
  find(bytes: Buffer, start: number, end: number): number {
    return this.#memo.find(bytes, start, end, this.#memo.hash(bytes, start, end));
  }

  /** @param labels in canonical form, as the text in `bytes` names them. */
  add(bytes: Buffer, place: { start: number; end: number }, labels: readonly Label[]): number {
    const { start, end } = place;
    const hash = this.#memo.hash(bytes, start, end);
    const series = this.#memo.add(bytes, start, end, hash, toSeries(labels));
    // Numbers begin anew once the memo has forgotten everything.
    if (series === 0) this.#facts = [];
    this.#facts[series] = toSeriesFacts(labels);
    return series;
  }

  factsOf(series: number): SeriesFacts {
    return this.#facts[series]!;
  }

  /** RowBinary `Map(String, String)`. */
  labelsOf(series: number): Uint8Array {
    return this.#memo.labelsOf(series);
  }

  /** Forgets everything where it is too much. */
  trim(): void {
    this.#memo.trim();
  }
}
