/**
 * A run of the query: its times are fixed once, so that list, histogram and facets show the same
 * logs until the query changes or is refreshed.
 */
import { useCallback, useEffect, useMemo, useState } from 'react';
import {
  type ApiFilters,
  type ExploreQuery,
  resolveRange,
  type TimeBounds,
  toApiFilters,
} from './query.ts';
import { serviceNowMs } from '../api/service-clock.ts';

export interface Run {
  /** Changes with each run, even for the same times. */
  readonly id: number;
  /** Number of refreshes, over all runs. */
  readonly refreshes: number;
  readonly bounds: TimeBounds;
  readonly filters: ApiFilters;
}

interface State extends Run {
  readonly asked: string;
}

export function useRun(query: ExploreQuery): { run: Run; refresh: () => void } {
  const { range, search, filters } = query;
  const asked = JSON.stringify([range, search.trim(), filters]);
  const [state, setState] = useState(() => start(query, asked, { id: 0, refreshes: 0 }));
  // Computed during render, so that new filters never combine with old times.
  if (state.asked !== asked) setState(start(query, asked, { ...state, id: state.id + 1 }));
  const refresh = useCallback(
    () =>
      setState(({ id, refreshes }) =>
        start(query, asked, { id: id + 1, refreshes: refreshes + 1 }),
      ),
    [query, asked],
  );
  return { run: state, refresh };
}

type Counts = Pick<Run, 'id' | 'refreshes'>;

function start(query: ExploreQuery, asked: string, { id, refreshes }: Counts): State {
  const bounds = resolveRange(query.range, serviceNowMs());
  return { id, refreshes, asked, bounds, filters: toApiFilters(query) };
}

const liveRefreshMs = 5000;

/** The run; in live mode its range follows the time. */
export function useOverviewRun(run: Run, { range, isLive }: ExploreQuery): Run {
  const [moved, setMoved] = useState<{ of: Run; bounds: TimeBounds }>();
  const isMoving = isLive && range.kind === 'relative';
  useEffect(() => {
    if (!isMoving) return;
    const move = () => {
      if (!document.hidden) setMoved({ of: run, bounds: resolveRange(range, serviceNowMs()) });
    };
    const timer = setInterval(move, liveRefreshMs);
    return () => clearInterval(timer);
  }, [isMoving, run, range]);
  return useMemo(
    () => (isMoving && moved?.of === run ? { ...run, bounds: moved.bounds } : run),
    [isMoving, moved, run],
  );
}
