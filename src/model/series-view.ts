/**
 * Tells a decoder of metrics whether the labels of a series are stored, so that it writes them once
 * and not with every sample.
 */

/**
 * - `known`: the labels are durable for this day;
 * - `pending`: they are already in this batch;
 * - `new`: the batch must include them;
 * - `refused`: the account is at its limit of series.
 */
export const seriesState = { known: 0, pending: 1, new: 2, refused: 3 } as const;
export type SeriesState = (typeof seriesState)[keyof typeof seriesState];

/** For one stream and one request. */
export interface SeriesView {
  readonly streamId: string;
  /** Limit of series per account and day, for error messages. */
  readonly maxSeries: number;
  /**
   * A series that is `known` for a day stays so in all views with the same scope. Unsigned 32 bits;
   * 0 = only in this view.
   */
  readonly scope: number;
  /** @param ids four words per id. @param at index of the id @param day of the sample (`toDay`). */
  look(ids: Uint32Array, at: number, day: number): SeriesState;
}
