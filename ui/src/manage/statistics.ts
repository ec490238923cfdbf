/** What a receiver took and refused, asked again and again. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useApp } from '../app/context.ts';

export interface StatisticsCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
}

export interface StatisticsBucket extends StatisticsCounts {
  readonly startTime: string;
  readonly endTime: string;
}

export interface RefusalReason {
  readonly kind: 'request' | 'record';
  readonly reason: string;
  readonly count: number;
  readonly advice: string;
}

export interface RefusalSample {
  readonly at: string;
  readonly kind: 'request' | 'record';
  readonly reason: string;
  readonly status: number;
  readonly detail: string;
  readonly tokenId: string | null;
  readonly peerAddress: string;
  readonly contentType: string | null;
  readonly bodyBytes: number | null;
  readonly advice: string;
}

export interface Statistics extends StatisticsCounts {
  readonly receiverId: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly buckets: readonly StatisticsBucket[];
  readonly reasons: readonly RefusalReason[];
  readonly lastSeenAt: string | null;
  readonly lastAcceptedAt: string | null;
  readonly lag: { readonly queueSeconds: number };
  readonly samples: readonly RefusalSample[];
}

export interface StatisticsRequest {
  /** How far back from now. */
  readonly rangeMs: number;
  readonly buckets: number;
  /** false = only once. */
  readonly everyMs: number | false;
}

export function useStatistics(receiverId: string, request: StatisticsRequest) {
  const { api } = useApp();
  const { rangeMs, buckets, everyMs } = request;
  return useQuery({
    queryKey: ['statistics', receiverId, rangeMs, buckets],
    queryFn: async ({ signal }): Promise<Statistics> => {
      const query = new URLSearchParams({
        sinceTime: String(Date.now() - rangeMs),
        buckets: String(buckets),
      });
      const path = `/api/v1/admin/receivers/${encodeURIComponent(receiverId)}/statistics`;
      const answer = await api.fetch(`${path}?${query.toString()}`, { signal });
      return (await answer.json()) as Statistics;
    },
    refetchInterval: everyMs,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}
