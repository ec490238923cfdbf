/** A view in which every series is new. */
import { seriesState, type SeriesView } from '../../src/model/series-view.ts';

export const blankSeriesView: SeriesView = {
  streamId: '',
  maxSeries: Number.MAX_SAFE_INTEGER,
  scope: 0,
  look: () => seriesState.new,
};
