/** How the list of results follows its query, and what its keys do. */
import { useCallback, useState } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import type { ExploreQuery } from '../query.ts';
import type { FeedState, LogFeed } from '../feed/log-feed.ts';

type OnChange = (change: Partial<ExploreQuery>) => void;

export interface OpenedLog {
  /** The log that a link led here for, shown apart from the list. */
  readonly linkedLogId: string | undefined;
  readonly onToggle: (openedLogId: string | undefined) => void;
}

/** The log that was opened last is part of the address; who reads it does not want it to move. */
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
      key: 't',
      group,
      description: 'Follow what arrives, or stop',
      run: () => onChange({ isLive: !query.isLive }),
    },
    {
      key: 'p',
      group,
      description: 'Pause or resume while following',
      run: () => {
        if (query.isLive) (state.isPaused ? onResume : feed.pause)();
      },
    },
  ]);
}
