/**
 * Running totals of series that senders report in deltas, since PromQL reads counters. A series
 * without a total, as after a restart, begins again at zero, which `rate` and `increase` count
 * like the restart of an application.
 */

interface Entry<Total> {
  /** Time of the last point, Unix ms. */
  untilMs: number;
  readonly total: Total;
}

export interface Turn<Total> {
  /**
   * `first` of a total, `next` one to add to it, `overlapping` one to add that begins before the
   * last one ended, `repeated` at a time that was counted already, or `late`, before that time.
   */
  readonly kind: 'first' | 'next' | 'overlapping' | 'repeated' | 'late';
  readonly total: Total;
}

/** Bounded: series without points are forgotten first. */
export class DeltaTotals<Total> {
  readonly #maxSeries: number;
  #recent = new Map<string, Entry<Total>>();
  #older = new Map<string, Entry<Total>>();

  /** @param maxSeries 0 = totals are not kept: each point is one */
  constructor(maxSeries: number) {
    this.#maxSeries = maxSeries;
  }

  /**
   * Finds the total to which the caller adds the point, unless it is repeated or late. A repeated
   * point is stored again with the same total, so that a retried request counts once.
   * @param startMs 0 = unknown
   */
  turn(
    series: string,
    { startMs, timeMs }: { readonly startMs: number; readonly timeMs: number },
    createTotal: () => Total,
  ): Turn<Total> {
    const entry = this.#find(series);
    if (entry === undefined) {
      const total = createTotal();
      this.#keep(series, { untilMs: timeMs, total });
      return { kind: 'first', total };
    }
    const { total, untilMs } = entry;
    if (timeMs < untilMs) return { kind: 'late', total };
    if (timeMs === untilMs) return { kind: 'repeated', total };
    entry.untilMs = timeMs;
    return { kind: startMs !== 0 && startMs < untilMs ? 'overlapping' : 'next', total };
  }

  #find(series: string): Entry<Total> | undefined {
    const recent = this.#recent.get(series);
    if (recent !== undefined) return recent;
    const older = this.#older.get(series);
    if (older !== undefined) {
      this.#older.delete(series);
      this.#keep(series, older);
    }
    return older;
  }

  #keep(series: string, entry: Entry<Total>): void {
    if (this.#maxSeries === 0) return;
    this.#recent.set(series, entry);
    if (2 * this.#recent.size <= this.#maxSeries) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/** @param at offset of the four words of the id */
export function deltaKey(streamId: string, ids: Uint32Array, at: number): string {
  let key = streamId;
  for (let word = at; word < at + 4; word += 1) {
    key += String.fromCharCode(ids[word]! & 0xffff, ids[word]! >>> 16);
  }
  return key;
}
