/** The feed of the current query: one per run, stopped when the next begins. */
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { Api } from '../../api/client.ts';
import type { LogPage } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import { type ApiFilters, type ExploreQuery, type TimeBounds, toApiFilters } from '../query.ts';
import type { Run } from '../use-run.ts';
import { type FeedState, LogFeed, type LogSource } from './log-feed.ts';

export interface FeedOfQuery {
  readonly feed: LogFeed;
  readonly state: FeedState;
}

export function useLogFeed(query: ExploreQuery, { bounds, refreshes }: Run): FeedOfQuery {
  const { api } = useApp();
  const { isLive, isOldestFirst } = query;
  // The same times may have new logs at each refresh: a relative range ends with a whole bar.
  const run = JSON.stringify([toApiFilters(query), bounds, refreshes]);
  const previous = useRef<LogFeed>(undefined);
  const feed = useMemo(() => {
    const [filters, ofRun] = JSON.parse(run) as [ApiFilters, TimeBounds];
    return new LogFeed(
      logSource(api, filters, ofRun, isOldestFirst),
      previous.current?.current().rows,
    );
  }, [api, run, isOldestFirst]);
  const startsLive = useRef(isLive);
  startsLive.current = isLive;

  useEffect(() => {
    previous.current = feed;
    return feed.start({ isLive: startsLive.current });
  }, [feed]);
  useEffect(() => feed.setLive({ isLive }), [feed, isLive]);
  return { feed, state: useSyncExternalStore(feed.subscribe, feed.current) };
}

function logSource(
  api: Api,
  filters: ApiFilters,
  bounds: TimeBounds,
  isOldestFirst: boolean,
): LogSource {
  return {
    async list({ cursor, limit, hasEnd, signal }) {
      const query = {
        ...filters,
        sinceTime: bounds.sinceTime,
        ...(hasEnd && { untilTime: bounds.untilTime }),
        ...(isOldestFirst && { order: 'asc' as const }),
        ...(cursor && { cursor: positionText(cursor) }),
        limit,
      };
      const { data, response } = await api.GET('/api/v1/logs', { params: { query }, signal });
      return {
        ...(data as LogPage),
        scannedRows: Number(response.headers.get('x-weir-scanned-rows')),
      };
    },
    openTail: (lastEventId, signal) =>
      api.fetch(`/api/v1/logs/tail?${new URLSearchParams(filters)}`, {
        signal,
        headers: lastEventId === '' ? {} : { 'last-event-id': lastEventId },
      }),
  };
}

/** Formats a position for `cursor` and `since`. */
export function positionText({ timestamp, logId }: { timestamp: string; logId: string }): string {
  return `${timestamp},${logId}`;
}
