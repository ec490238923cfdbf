/** What a receiver took and refused, and why: a read, with its parameters in the URL. */
import type { Directory } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { parseQuery } from '../std/parse-query.ts';
import { jsonResponse, type ReadRoute } from '../model/read-route.ts';
import type { MinuteSpan, ReceiverHistory } from '../model/receiver-statistics.ts';
import type { Queue } from '../queue/port.ts';
import { receiverParams } from './schemas.ts';
import {
  statisticsAnswer,
  statisticsQuery,
  toMinuteSpan,
  toStatisticsAnswer,
} from './statistics-answer.ts';

export interface StatisticsParts {
  readonly directory: Pick<Directory, 'getReceiver'>;
  readonly statistics: {
    /** @throws AppError `unavailable` */
    history(receiverId: string, span: MinuteSpan): Promise<ReceiverHistory>;
  };
  readonly queue: Pick<Queue, 'status'>;
  /** Unix ms. */
  readonly now: () => number;
}

export function createStatisticsRoutes(parts: StatisticsParts): readonly ReadRoute[] {
  const { directory, statistics, queue, now } = parts;
  return [
    {
      method: 'GET',
      path: '/api/v1/admin/receivers/:receiverId/statistics',
      operationId: 'getReceiverStatistics',
      summary: 'What a receiver accepted and refused over time, and why',
      scope: 'admin',
      params: receiverParams,
      query: statisticsQuery,
      response: jsonResponse(statisticsAnswer),
      read: async ({ accountId, params, search }) => {
        const query = parseQuery(statisticsQuery, search);
        const span = toMinuteSpan(query, now());
        const receiverId = params['receiverId'] ?? '';
        const receiver = await directory.getReceiver(receiverId);
        if (receiver?.accountId !== accountId) {
          throw new AppError('not_found', `cannot find receiver ${receiverId} in this account`);
        }
        const history = await statistics.history(receiverId, span);
        const queueSeconds = queue.status().oldestAgeMs / 1000;
        return toStatisticsAnswer(receiverId, history, {
          span,
          buckets: query.buckets,
          queueSeconds,
        });
      },
    },
  ];
}
