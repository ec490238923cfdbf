/** Page state, read from and written to the URL. */
import { useCallback, useMemo, useState } from 'react';
// wouter's `useSearch` decodes the query, which breaks values with `%`.
import { navigate, useSearch } from 'wouter/use-browser-location';
import { serviceNowMs } from '../api/service-clock.ts';
import {
  type Bounds,
  boundsOf,
  formatMetricQuery,
  type MetricQuery,
  parseMetricQuery,
} from './metric-query.ts';

export interface MetricState {
  readonly query: MetricQuery;
  /** Relative ranges end at the time of the request, not of the render. */
  readonly bounds: Bounds;
  /** Time of the last request, Unix ms. */
  readonly asOfMs: number;
  readonly change: (part: Partial<MetricQuery>) => void;
  readonly refresh: () => void;
}

export function useMetricQuery(): MetricState {
  const search = useSearch();
  const query = useMemo(() => parseMetricQuery(search), [search]);
  const [nowMs, setNowMs] = useState(serviceNowMs);
  const bounds = useMemo(() => boundsOf(query.range, nowMs), [query.range, nowMs]);
  const refresh = useCallback(() => setNowMs(serviceNowMs()), []);
  const change = useCallback((part: Partial<MetricQuery>) => {
    const before = parseMetricQuery(location.search);
    const next = formatMetricQuery({ ...before, ...part });
    if (next === formatMetricQuery(before)) return;
    // How the chart is drawn is no step to go back to.
    const replace = part.queries === undefined && part.range === undefined;
    navigate(next === '' ? location.pathname : `?${next}`, { replace });
    if (part.range !== undefined) setNowMs(serviceNowMs());
  }, []);
  return { query, bounds, asOfMs: nowMs, change, refresh };
}
