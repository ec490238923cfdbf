/** Connects the result list to its query and keys. */
import { useCallback, useState } from 'react';
import { useShortcuts } from '../../parts/controls/shortcuts.ts';
import type { ExploreQuery } from '../query.ts';
import type { FeedState, LogFeed } from '../feed/log-feed.ts';

type OnChange = (change: Partial<ExploreQuery>) => void;

export interface OpenedLog {
  /** The log of the link that opened the page, shown above the list. */
  readonly linkedLogId: string | undefined;
  readonly onToggle: (openedLogId: string | undefined) => void;
}

/** The last expanded log is part of the URL; replaced without scrolling. */
export function useOpenedLog(query: ExploreQuery, feed: LogFeed, onChange: OnChange): OpenedLog {
  const { openLogId, isLive } = query;
  const [openedHere, setOpenedHere] = useState<string>();
  const linkedLogId = openLogId === openedHere ? undefined : openLogId;
  const onToggle = useCallback(
    (logId: string | undefined) => {
      if (logId !== undefined && isLive) feed.pause();
      if (linkedLogId !== undefined) return;
      setOpenedHere(logId);
      onChange({ openLogId: logId });
    },
    [feed, isLive, linkedLogId, onChange],
  );
  return { linkedLogId, onToggle };
}

export interface ResultsKeyParts {
  readonly query: ExploreQuery;
  readonly state: FeedState;
  readonly feed: LogFeed;
  readonly onChange: OnChange;
  readonly onResume: () => void;
}

export function useResultsKeys({ query, state, feed, onChange, onResume }: ResultsKeyParts): void {
  const group = 'Logs';
  useShortcuts([
    {
      key: 'w',
      group,
      description: 'Wrap long lines',
      run: () => onChange({ isWrapped: !query.isWrapped }),
    },
    {
      key: 'p',
      group,
      description: 'Pause or resume live mode',
      run: () => {
        if (query.isLive) (state.isPaused ? onResume : feed.pause)();
      },
    },
  ]);
}
