/** What a saved view keeps of a state, and which of them a state equals. Pure. */
import { type ExploreQuery, formatQuery, parseQuery } from '../query.ts';

export interface SavedView {
  readonly viewId: string;
  readonly name: string;
  /** As in the URL, without `?`. */
  readonly query: string;
}

/** All but what is of the moment: the log that is open. */
export function toViewQuery(query: ExploreQuery): string {
  return formatQuery({ ...query, openLogId: undefined });
}

export function findView(views: readonly SavedView[], query: ExploreQuery): SavedView | undefined {
  const wanted = toViewQuery(query);
  // Compared as states: a view may have been written by hand, or by an older explorer.
  return views.find((view) => toViewQuery(parseQuery(view.query)) === wanted);
}
