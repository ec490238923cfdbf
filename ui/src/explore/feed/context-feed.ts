/** Loads the neighbours of a log in both directions, newest first. */
import { useCallback, useEffect, useState } from 'react';
import { type Api, dataOf } from '../../api/client.ts';
import type { Log, LogPage } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import { positionText } from './use-log-feed.ts';

export type Same = 'host' | 'service';

export interface ContextState {
  readonly logs: readonly Log[];
  /** Changes when the view is centred again. */
  readonly same: readonly Same[] | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}

export interface Context extends ContextState {
  readonly loadNewer: () => void;
  readonly loadOlder: () => void;
  readonly retry: () => void;
}

const around = 50;
const pageLimit = 200;
const nothing: ContextState = {
  logs: [],
  same: undefined,
  isLoading: true,
  error: undefined,
  hasNewer: false,
  hasOlder: false,
};

/** @param same only logs of the same host or service; must be a stable value */
export function useContextLogs(log: Log, same: readonly Same[]): Context {
  const { api } = useApp();
  const [state, setState] = useState(nothing);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ ...before, isLoading: true, error: undefined }));
    loadAround(api, log, { same, signal: controller.signal }).then(setState, (error: unknown) => {
      if (!controller.signal.aborted) setState((kept) => ({ ...kept, isLoading: false, error }));
    });
    return () => controller.abort();
  }, [api, log, same, attempt]);

  // A page beyond logs that have been replaced meanwhile is not of the logs shown.
  const loadMore = useCallback(
    async (direction: 'newer' | 'older') => {
      setState((before) => ({ ...before, isLoading: true, error: undefined }));
      try {
        const more = await loadBeyond(api, state.logs, { log, same, direction });
        setState((now) => (now.logs === state.logs ? extend(now, more, direction) : now));
      } catch (error) {
        setState((now) => (now.logs === state.logs ? { ...now, isLoading: false, error } : now));
      }
    },
    [api, log, same, state.logs],
  );
  return {
    ...state,
    loadNewer: () => void loadMore('newer'),
    loadOlder: () => void loadMore('older'),
    retry: () => setAttempt(attempt + 1),
  };
}

async function loadAround(
  api: Api,
  { logId, streamId }: Log,
  { same, signal }: { same: readonly Same[]; signal: AbortSignal },
): Promise<ContextState> {
  const query = { before: around, after: around, same: [...same], streamId: [streamId] };
  const params = { path: { logId }, query };
  const { after, log, before } = await dataOf(
    api.GET('/api/v1/logs/{logId}/context', { params, signal }),
  );
  return {
    logs: [...after, log, ...before],
    same,
    isLoading: false,
    error: undefined,
    hasNewer: after.length === around,
    hasOlder: before.length === around,
  };
}

interface Beyond {
  readonly log: Log;
  readonly same: readonly Same[];
  readonly direction: 'newer' | 'older';
}

async function loadBeyond(
  api: Api,
  logs: readonly Log[],
  { log, same, direction }: Beyond,
): Promise<readonly Log[]> {
  const edge = positionText(direction === 'newer' ? logs[0]! : logs.at(-1)!);
  const query = {
    streamId: [log.streamId],
    ...(same.includes('host') && { host: [log.host] }),
    ...(same.includes('service') && {
      serviceName: [log.serviceName],
      serviceNamespace: [log.serviceNamespace],
    }),
    ...(direction === 'newer' ? { since: edge } : { cursor: edge }),
    limit: pageLimit,
  };
  const call = api.GET('/api/v1/logs', { params: { query } });
  return ((await dataOf(call)) as LogPage).logs;
}

function extend(
  state: ContextState,
  more: readonly Log[],
  direction: 'newer' | 'older',
): ContextState {
  const mayHaveMore = more.length === pageLimit;
  const settled = { isLoading: false, error: undefined };
  return direction === 'newer'
    ? { ...state, ...settled, logs: [...more, ...state.logs], hasNewer: mayHaveMore }
    : { ...state, ...settled, logs: [...state.logs, ...more], hasOlder: mayHaveMore };
}
