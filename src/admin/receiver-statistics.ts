/** Statistics of a receiver over time: accepted, rejected and refused, with reasons and advice. */
import { z } from 'zod';
import { parseRequestTime, requestTimeForm } from '../codec/event-time.ts';
import type { Directory } from '../directory/port.ts';
import {
  type MinuteCounts,
  type MinuteSpan,
  minuteMs,
  type ReceiverHistory,
} from '../model/receiver-statistics.ts';
import { AppError } from '../model/errors.ts';
import { jsonResponse, type ReadRoute } from '../model/read-route.ts';
import type { Queue } from '../queue/port.ts';
import { parsed, parseQuery } from '../std/parse-query.ts';
import { toAdvice } from './advice.ts';
import { requireOwned } from './routes.ts';
import { receiverParams } from './schemas.ts';

const maxBuckets = 500;
/** A week, and an hour for clock skew. */
const maxMinutes = 7 * 24 * 60 + 60;
const defaultMinutes = 60;

export const statisticsQuery = z.strictObject({
  sinceTime: timeParameter(
    'Start, rounded down to a minute; default: an hour before the end. Synonym: startTime.',
  ),
  untilTime: timeParameter('End, rounded up to a minute; default: now. Synonym: endTime.'),
  buckets: z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from 1 to ${maxBuckets}`)
    .transform(Number)
    .pipe(z.int().min(1).max(maxBuckets, `a whole number from 1 to ${maxBuckets}`))
    .default(60)
    .meta({
      description:
        `Number of buckets of whole minutes, from 1 to ${maxBuckets}; default 60. ` +
        'A shorter range has a bucket for each minute.',
      example: 60,
    }),
});

export type StatisticsQuery = z.output<typeof statisticsQuery>;

const time = z.string().meta({ format: 'date-time', examples: ['2026-04-01T08:30:00.000Z'] });
const lastTime = time.nullable();
const kind = z.enum(['request', 'record']);
const reasonKind = z.enum(['request', 'record', 'warning']);
const advice = z.string().describe('What to change, in one sentence.');
const counts = {
  accepted: z.int().describe('Accepted events.'),
  rejected: z.int().describe('Rejected records of accepted requests.'),
  requests: z.int().describe('All requests.'),
  refused: z.int().describe('Requests refused as a whole.'),
  bytes: z.int().describe('Decompressed body bytes of accepted requests.'),
};

export const statisticsAnswer = z.object({
  receiverId: z.string(),
  startTime: time,
  endTime: time,
  buckets: z.array(z.object({ startTime: time, endTime: time, ...counts })),
  ...counts,
  reasons: z
    .array(z.object({ kind: reasonKind, reason: z.string(), count: z.int(), advice }))
    .describe('Most frequent first. A warning counts records changed or dropped.'),
  lastSeenAt: lastTime.describe('Time of the last request; null = none.'),
  lastAcceptedAt: lastTime.describe('Time of the last accepted request; null = none.'),
  lag: z.object({
    queueSeconds: z
      .number()
      .describe('Age of the oldest batch that is not readable yet, in seconds.'),
  }),
  samples: z
    .array(
      z.object({
        at: time,
        kind,
        reason: z.string(),
        status: z.int().describe('The HTTP status.'),
        detail: z.string().describe('The message that the sender received.'),
        tokenId: z.string().nullable(),
        peerAddress: z.string(),
        contentType: z.string().nullable(),
        bodyBytes: z.int().nullable(),
        advice,
      }),
    )
    .describe('The last refusals, newest first, of any time range.'),
});

export type StatisticsAnswer = z.output<typeof statisticsAnswer>;

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
      summary: 'What a receiver accepted, rejected and refused over time, with reasons',
      scope: 'admin',
      params: receiverParams,
      query: statisticsQuery,
      response: jsonResponse(statisticsAnswer),
      read: async ({ accountId, params, search }) => {
        const query = parseQuery(statisticsQuery, search);
        const span = toMinuteSpan(query, now());
        const receiverId = params['receiverId'] ?? '';
        const receiver = await directory.getReceiver(receiverId);
        requireOwned(receiver, 'receiver', { accountId, id: receiverId });
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

/** @throws AppError `malformed` for an empty or too long range */
export function toMinuteSpan({ sinceTime, untilTime }: StatisticsQuery, nowMs: number): MinuteSpan {
  const untilMinute = Math.ceil((untilTime ?? nowMs + 1) / minuteMs);
  const fromMinute =
    sinceTime === undefined ? untilMinute - defaultMinutes : Math.floor(sinceTime / minuteMs);
  const minutes = untilMinute - fromMinute;
  if (minutes > 0 && minutes <= maxMinutes) return { fromMinute, untilMinute };
  throw new AppError(
    'malformed',
    minutes > 0
      ? 'cannot answer for more than 7 days: request a shorter range'
      : 'cannot answer for an empty range: sinceTime must be before untilTime',
    { parameter: 'sinceTime' },
  );
}

export function toStatisticsAnswer(
  receiverId: string,
  history: ReceiverHistory,
  asked: { readonly span: MinuteSpan; readonly buckets: number; readonly queueSeconds: number },
): StatisticsAnswer {
  const buckets = toBuckets(history.minutes, asked.span, asked.buckets);
  return {
    receiverId,
    startTime: toIso(asked.span.fromMinute),
    endTime: toIso(asked.span.untilMinute),
    buckets,
    ...sumOf(buckets),
    reasons: history.reasons
      .map(({ kind: of, reason, count }) => ({
        kind: of,
        reason,
        count,
        advice: toAdvice(of, reason),
      }))
      .sort((a, b) => b.count - a.count),
    lastSeenAt: history.lastSeenAt,
    lastAcceptedAt: history.lastAcceptedAt,
    lag: { queueSeconds: asked.queueSeconds },
    samples: history.samples.map((sample) => ({
      ...sample,
      advice: toAdvice(sample.kind, sample.reason),
    })),
  };
}

type Counts = Omit<MinuteCounts, 'minute'>;

/** Edge i is at `floor(i * minutes / buckets)`, so that lengths differ by one minute at most. */
function toBuckets(
  minutes: readonly MinuteCounts[],
  { fromMinute, untilMinute }: MinuteSpan,
  asked: number,
): StatisticsAnswer['buckets'] {
  const all = untilMinute - fromMinute;
  const number = Math.min(asked, all);
  const edge = (index: number) => fromMinute + Math.floor((index * all) / number);
  let next = 0;
  return Array.from({ length: number }, (_, index) => {
    const first = next;
    while (next < minutes.length && minutes[next]!.minute < edge(index + 1)) next += 1;
    return {
      startTime: toIso(edge(index)),
      endTime: toIso(edge(index + 1)),
      ...sumOf(minutes.slice(first, next)),
    };
  });
}

function sumOf(parts: readonly Counts[]): Counts {
  const sum = { accepted: 0, rejected: 0, requests: 0, refused: 0, bytes: 0 };
  for (const part of parts) {
    sum.accepted += part.accepted;
    sum.rejected += part.rejected;
    sum.requests += part.requests;
    sum.refused += part.refused;
    sum.bytes += part.bytes;
  }
  return sum;
}

function toIso(minute: number): string {
  return new Date(minute * minuteMs).toISOString();
}

function timeParameter(description: string) {
  return parsed((text) => parseRequestTime(text)?.millis, requestTimeForm)
    .optional()
    .meta({ description, example: '2026-04-01T08:30:00Z' });
}
