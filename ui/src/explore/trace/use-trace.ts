/** Reads all logs of a trace, of every stream and service. */
import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.ts';
import type { Log, LogPage } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import { positionText } from '../feed/use-log-feed.ts';

const pageLimit = 1_000;
const maxLogs = 5_000;

export interface TraceLogs {
  /** Oldest first. */
  readonly logs: readonly Log[];
  /** There are older logs, which were not read. */
  readonly isCut: boolean;
}

export function useTrace(traceId: string) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['trace', traceId],
    queryFn: async ({ signal }): Promise<TraceLogs> => {
      const logs: Log[] = [];
      for (let cursor: string | undefined; ; ) {
        const query = { traceId: [traceId], limit: pageLimit, ...(cursor && { cursor }) };
        const call = api.GET('/api/v1/logs', { params: { query }, signal });
        const page = (await dataOf(call)) as LogPage;
        logs.push(...page.logs);
        const hasMore = page.logs.length === pageLimit;
        if (!hasMore || logs.length >= maxLogs) return { logs: logs.reverse(), isCut: hasMore };
        cursor = positionText(page.cursor);
      }
    },
  });
}
