/**
 * A run of the query: its times are fixed once, so that list, histogram and facets show the same
 * logs until the query changes or is refreshed.
 */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { serviceNowMs } from '../api/service-clock.ts';
import { currentPreferences } from '../app/preferences.ts';
import { type ApiFilters, type ExploreQuery, type TimeBounds, toApiFilters } from './query.ts';
import { type Bars, type ResolvedRange, resolveRange, untilNow } from './range/range.ts';

export interface Run {
  /** Changes with each run, even for the same times. */
  readonly id: number;
  /** Number of refreshes, over all runs. */
  readonly refreshes: number;
  /** How often live mode has read the counts again. */
  readonly rereads: number;
  readonly bounds: TimeBounds;
  /** Bars of the histogram. */
  readonly buckets: number;
  readonly filters: ApiFilters;
}

interface State extends Run {
  readonly asked: string;
}

export function useRun(query: ExploreQuery): { run: Run; refresh: () => void } {
  const { range, text } = query;
  const asked = JSON.stringify([range, text]);
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
  const resolved = resolveRange(query.range, serviceNowMs(), bars());
  return { id, refreshes, rereads: 0, asked, filters: toApiFilters(query), ...resolved };
}

const liveRefreshMs = 5000;

/**
 * The run of the counts. In live mode it reaches to now, and after live mode to its end, so that
 * they count what the list has received.
 */
export function useOverviewRun(run: Run, { range, isLive }: ExploreQuery): Run {
  const [moved, setMoved] = useState<{ of: Run; rereads: number; to: ResolvedRange }>();
  useEffect(() => {
    if (!isLive) return;
    const move = (to: ResolvedRange) =>
      setMoved((before) => ({ of: run, rereads: (before?.rereads ?? 0) + 1, to }));
    const follow = () => {
      if (document.hidden) return;
      const nowMs = serviceNowMs();
      const isRelative = range.kind === 'relative';
      move(isRelative ? resolveRange(range, nowMs, bars()) : untilNow(run, nowMs, bars()));
    };
    const timer = setInterval(follow, liveRefreshMs);
    return () => {
      clearInterval(timer);
      move(untilNow(run, serviceNowMs(), bars()));
    };
  }, [isLive, run, range]);
  return useMemo(
    () => (moved?.of === run ? { ...run, rereads: moved.rereads, ...moved.to } : run),
    [moved, run],
  );
}

/** Estimated by the window, so that the times do not wait for the layout. */
function bars(): Bars {
  const fitting = Math.floor(innerWidth / pixelsPerBar);
  return { fitting: Math.max(20, Math.min(maxBars, fitting)), zone: currentPreferences().timeZone };
}

/** With the facets beside the bars. */
const pixelsPerBar = 9;
/** Some less than the API allows: a range is widened to whole bars. */
const maxBars = 490;
