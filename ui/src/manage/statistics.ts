/** Polls the statistics of a receiver. */
import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { serviceNowMs } from '../api/service-clock.ts';

export interface StatisticsRequest {
  /** Length of the range, up to now. */
  readonly rangeMs: number;
  readonly buckets: number;
  /** false = no polling. */
  readonly everyMs: number | false;
}

export function useStatistics(receiverId: string, request: StatisticsRequest) {
  const { api } = useApp();
  const { rangeMs, buckets, everyMs } = request;
  return useQuery({
    queryKey: ['statistics', receiverId, rangeMs, buckets],
    queryFn: ({ signal }) => {
      const sinceTime = new Date(serviceNowMs() - rangeMs).toISOString();
      const query = { sinceTime, buckets: String(buckets) };
      return dataOf(
        api.GET('/api/v1/admin/receivers/{receiverId}/statistics', {
          params: { path: { receiverId }, query },
          signal,
        }),
      );
    },
    refetchInterval: everyMs,
    staleTime: everyMs === false ? Number.POSITIVE_INFINITY : everyMs / 2,
  });
}
