/**
 * What a decoder of metrics is told about series: whether the labels of one are stored already, so
 * that it need not write them again with every sample.
 */

/**
 * - `known`: its labels are durable for this day, or in the batch at hand already;
 * - `new`: the batch must bring them;
 * - `refused`: the account has as many series as it may have, and this would be one more.
 */
export const seriesState = { known: 0, new: 1, refused: 2 } as const;
export type SeriesState = (typeof seriesState)[keyof typeof seriesState];

/** Of one stream, for the time of one request. */
export interface SeriesView {
  /** How many series the account may have a day; for the words of a refusal. */
  readonly maxSeries: number;
  /**
   * @param ids words of ids, four each. @param at where the id begins in it.
   * @param day of the sample (`toDay`).
   */
  look(ids: Uint32Array, at: number, day: number): SeriesState;
}

/** Everything is new to it, and nothing too much: for requests without series, and for tests. */
export const blankSeriesView: SeriesView = {
  maxSeries: Number.MAX_SAFE_INTEGER,
  look: () => seriesState.new,
};
