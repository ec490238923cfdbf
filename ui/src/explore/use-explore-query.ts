/** Page state, read from and written to the URL. */
import { useMemo } from 'react';
// wouter's `useSearch` decodes the query, which breaks values with `%`.
import { navigate, useSearch } from 'wouter/use-browser-location';
import { useToast } from '../parts/feedback/toasts.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import { type ExploreQuery, formatQuery, maxTextLength, parseQuery } from './query.ts';

export interface ExploreState {
  readonly query: ExploreQuery;
  /**
   * Updates the current URL. Display changes replace the history entry, query changes add one,
   * unless `history` overrides it. A query that is too long for the service changes nothing.
   */
  readonly change: (change: QueryChange, history?: 'push' | 'replace') => void;
}

type QueryChange = (query: ExploreQuery) => ExploreQuery;

export function useExploreQuery(): ExploreState {
  const search = useSearch();
  const query = useMemo(() => parseQuery(search), [search]);
  const toast = useToast();
  const change: ExploreState['change'] = (makeNext, history) => {
    const before = parseQuery(location.search);
    const next = makeNext(before);
    // The URL would have the beginning of it, which is another query or none.
    if (next.text.length > maxTextLength) {
      toast(`A query has at most ${formatCount(maxTextLength)} characters: this one is longer`);
      return;
    }
    const text = formatQuery(next);
    if (text === formatQuery(before)) return;
    const replace = (history ?? (isSameSearch(before, next) ? 'replace' : 'push')) === 'replace';
    navigate(text === '' ? location.pathname : `?${text}`, { replace });
  };
  return { query, change };
}

function isSameSearch(left: ExploreQuery, right: ExploreQuery): boolean {
  const searchOf = ({ range, text, isLive, tab }: ExploreQuery) =>
    JSON.stringify([range, text, isLive, tab]);
  return searchOf(left) === searchOf(right);
}
