/** The state of the page, read from the URL and written to it. */
import { useCallback, useMemo } from 'react';
// wouter's own `useSearch` decodes what it gives, and a value may hold a `%`.
import { navigate, useSearch } from 'wouter/use-browser-location';
import { type ExploreQuery, formatQuery, parseQuery } from './query.ts';

export interface ExploreState {
  readonly query: ExploreQuery;
  /**
   * Changes what the URL says now. How things look replaces the entry in the browser's history,
   * what is looked for adds one, unless `history` says otherwise.
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
  const searchOf = ({ range, search, filters, isLive }: ExploreQuery) =>
    JSON.stringify([range, search, filters, isLive]);
  return searchOf(left) === searchOf(right);
}
