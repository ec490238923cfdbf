/** What a saved view includes, and which view matches the page state. Pure. */
import { type ExploreQuery, formatQuery, parseQuery } from '../query.ts';

export interface SavedView {
  readonly viewId: string;
  readonly name: string;
  /** As in the URL, without `?`. */
  readonly query: string;
}

/** Everything except the open log. */
export function toViewQuery(query: ExploreQuery): string {
  return formatQuery({ ...query, openLogId: undefined });
}

export function findView(views: readonly SavedView[], query: ExploreQuery): SavedView | undefined {
  const wanted = toViewQuery(query);
  // Compared as parsed state: the stored text may be written by hand or by another version.
  return views.find((view) => toViewQuery(parseQuery(view.query)) === wanted);
}
