/** What a saved view includes, and which view matches the page state. Pure. */
import type { SavedView } from '../../api/models.ts';
import { type ExploreQuery, formatQuery, parseQuery } from '../query.ts';

/** Everything except the open log. */
export function toViewQuery(query: ExploreQuery): string {
  return formatQuery({ ...query, openLogId: undefined });
}

export function findView(views: readonly SavedView[], query: ExploreQuery): SavedView | undefined {
  const wanted = toViewQuery(query);
  // Compared as parsed state: the stored text may be written by hand or by another version.
  return views.find((view) => toViewQuery(parseQuery(view.query)) === wanted);
}
