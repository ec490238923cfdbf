/** Page state, read from and written to the URL. */
import { useCallback, useMemo } from 'react';
// wouter's `useSearch` decodes the query, which breaks values with `%`.
import { navigate, useSearch } from 'wouter/use-browser-location';
import { type ExploreQuery, formatQuery, parseQuery } from './query.ts';

export interface ExploreState {
  readonly query: ExploreQuery;
  /**
   * Updates the current URL. Display changes replace the history entry, query changes add one,
   * unless `history` overrides it.
   */
  readonly change: (change: QueryChange, history?: 'push' | 'replace') => void;
}

export type QueryChange = (query: ExploreQuery) => ExploreQuery;

export function useExploreQuery(): ExploreState {
  const search = useSearch();
  const query = useMemo(() => parseQuery(search), [search]);
  const change = useCallback((makeNext: QueryChange, history?: 'push' | 'replace') => {
    const before = parseQuery(location.search);
    const next = makeNext(before);
    const text = formatQuery(next);
    if (text === formatQuery(before)) return;
    const replace = (history ?? (isSameSearch(before, next) ? 'replace' : 'push')) === 'replace';
    navigate(text === '' ? location.pathname : `?${text}`, { replace });
  }, []);
  return { query, change };
}

function isSameSearch(left: ExploreQuery, right: ExploreQuery): boolean {
  const searchOf = ({ range, text, isLive, tab }: ExploreQuery) =>
    JSON.stringify([range, text, isLive, tab]);
  return searchOf(left) === searchOf(right);
}
