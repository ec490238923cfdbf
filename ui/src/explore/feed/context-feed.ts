/** Loads the neighbours of a log in both directions, newest first. */
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Api, dataOf } from '../../api/client.ts';
import type { Log, LogPage } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import { positionText } from './use-log-feed.ts';

export type Same = 'host' | 'service';

interface ContextPage {
  readonly logs: readonly Log[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}

/** Where a further page begins. */
interface Beyond {
  readonly direction: 'newer' | 'older';
  readonly edge: Log;
}

const around = 50;
const pageLimit = 200;

/** @param same only logs of the same host or service */
export function useContextLogs(log: Log, same: readonly Same[]) {
  const { api } = useApp();
  const read = useInfiniteQuery({
    queryKey: ['context', log.logId, same],
    queryFn: ({ pageParam }) =>
      pageParam === undefined
        ? loadAround(api, log, same)
        : loadBeyond(api, log, { same, ...pageParam }),
    initialPageParam: undefined as Beyond | undefined,
    getPreviousPageParam: (_, pages): Beyond => ({ direction: 'newer', edge: join(pages)[0]! }),
    getNextPageParam: (_, pages): Beyond => ({ direction: 'older', edge: join(pages).at(-1)! }),
    select: toContext,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  // Remain while others are loaded, and if those cannot be read.
  const [last, setLast] = useState<ContextPage>({ logs: [], hasNewer: false, hasOlder: false });
  if (read.data !== undefined && read.data !== last) setLast(read.data);
  const loadNewer = () => void read.fetchPreviousPage();
  const loadOlder = () => void read.fetchNextPage();
  return {
    ...(read.data ?? last),
    /** What the logs shown have in common; undefined while they are of another choice. */
    same: read.data === undefined ? undefined : same,
    isLoading: read.isFetching,
    error: read.error,
    loadNewer,
    loadOlder,
    retry() {
      if (read.isFetchPreviousPageError) loadNewer();
      else if (read.isFetchNextPageError) loadOlder();
      else void read.refetch();
    },
  };
}

function toContext({ pages }: InfiniteData<ContextPage>): ContextPage {
  const [{ hasNewer }, { hasOlder }] = [pages[0]!, pages.at(-1)!];
  return { logs: join(pages), hasNewer, hasOlder };
}

function join(pages: readonly ContextPage[]): readonly Log[] {
  return pages.flatMap(({ logs }) => logs);
}

async function loadAround(
  api: Api,
  { logId, streamId }: Log,
  same: readonly Same[],
): Promise<ContextPage> {
  const query = { before: around, after: around, same: [...same], streamId: [streamId] };
  const params = { path: { logId }, query };
  const call = api.GET('/api/v1/logs/{logId}/context', { params });
  const { after, log, before } = await dataOf(call);
  return {
    logs: [...after, log, ...before],
    hasNewer: after.length === around,
    hasOlder: before.length === around,
  };
}

async function loadBeyond(
  api: Api,
  log: Log,
  { same, direction, edge }: Beyond & { readonly same: readonly Same[] },
): Promise<ContextPage> {
  const position = positionText(edge);
  const query = {
    streamId: [log.streamId],
    ...(same.includes('host') && { host: [log.host] }),
    ...(same.includes('service') && {
      serviceName: [log.serviceName],
      serviceNamespace: [log.serviceNamespace],
    }),
    ...(direction === 'newer' ? { since: position } : { cursor: position }),
    limit: pageLimit,
  };
  const { logs } = (await dataOf(api.GET('/api/v1/logs', { params: { query } }))) as LogPage;
  const mayHaveMore = logs.length === pageLimit;
  return { logs, hasNewer: mayHaveMore, hasOlder: mayHaveMore };
}
