/** Time ranges of statistics and their buckets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import { parseQuery } from '../std/parse-query.ts';
import type { MinuteCounts, ReceiverHistory } from '../model/receiver-statistics.ts';
import {
  statisticsAnswer,
  statisticsQuery,
  toMinuteSpan,
  toStatisticsAnswer,
} from './receiver-statistics.ts';

const nowMs = Date.parse('2026-04-01T08:30:30Z');
const hour = { fromMinute: 600, untilMinute: 660 };

function spanOf(text: string) {
  const { fromMinute, untilMinute } = toMinuteSpan(
    parseQuery(statisticsQuery, new URLSearchParams(text)),
    nowMs,
  );
  return [fromMinute, untilMinute].map((minute) => new Date(minute * 60_000).toISOString());
}

const spans: readonly [query: string, from: string, until: string][] = [
  ['', '2026-04-01T07:31:00.000Z', '2026-04-01T08:31:00.000Z'],
  ['sinceTime=2026-04-01T08:00:59Z', '2026-04-01T08:00:00.000Z', '2026-04-01T08:31:00.000Z'],
  ['untilTime=2026-03-01T00:00:00Z', '2026-02-28T23:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['startTime=0&endTime=1', '1970-01-01T00:00:00.000Z', '1970-01-01T00:01:00.000Z'],
  [
    'sinceTime=1775030459&untilTime=1775032200',
    '2026-04-01T08:00:00.000Z',
    '2026-04-01T08:30:00.000Z',
  ],
  [
    'sinceTime=2026-03-01T02:00:00 02:00&untilTime=2026-03-08T00:00:00Z',
    '2026-03-01T00:00:00.000Z',
    '2026-03-08T00:00:00.000Z',
  ],
];
for (const [query, from, until] of spans) {
  test(`reads "${query}" as ${from} to ${until}`, () => {
    assert.deepEqual(spanOf(query), [from, until]);
  });
}

for (const query of [
  'sinceTime=soon',
  'untilTime=99999999999999999999',
  'untilTime=9999999999999',
  'sinceTime=2026-04-01T08:31:00Z',
  'sinceTime=2026-04-01T08:00:00Z&untilTime=2026-04-01T08:00:00Z',
  'sinceTime=2026-03-01T00:00:00Z&untilTime=2026-03-08T01:01:00Z',
  'buckets=0',
  'buckets=501',
  'buckets=1.5',
  'buckets=-1',
  'severity=INFO',
]) {
  test(`refuses "${query}"`, () => {
    assert.throws(
      () => spanOf(query),
      (error) => {
        return error instanceof AppError && error.code === 'malformed';
      },
    );
  });
}

function history(minutes: readonly MinuteCounts[]): ReceiverHistory {
  return { minutes, reasons: [], samples: [], lastSeenAt: null, lastAcceptedAt: null };
}

function counts(minute: number): MinuteCounts {
  return { minute, requests: 2, refused: 1, accepted: 5, rejected: 3, bytes: 7 };
}

test('has no bucket shorter than a minute', () => {
  const span = { fromMinute: 10, untilMinute: 13 };
  const asked = { span, buckets: 60, queueSeconds: 0 };
  const { buckets } = toStatisticsAnswer('rcv_a', history([counts(11)]), asked);
  assert.deepEqual(
    buckets.map(({ startTime, accepted }) => [startTime.slice(11, 16), accepted]),
    [
      ['00:10', 0],
      ['00:11', 5],
      ['00:12', 0],
    ],
  );
});

test('covers the range without a gap and counts every minute once', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_081 }),
      fc.integer({ min: 1, max: 500 }),
      fc.uniqueArray(fc.nat(10_080)),
      (length, buckets, offsets) => {
        const span = { fromMinute: 1000, untilMinute: 1000 + length };
        const minutes = offsets
          .filter((offset) => offset < length)
          .sort((a, b) => a - b)
          .map((offset) => counts(1000 + offset));
        const asked = { span, buckets, queueSeconds: 0 };
        const answer = toStatisticsAnswer('rcv_a', history(minutes), asked);
        assert.equal(answer.buckets.length, Math.min(buckets, length));
        assert.equal(answer.buckets[0]?.startTime, answer.startTime);
        assert.equal(answer.buckets.at(-1)?.endTime, answer.endTime);
        for (const [index, bucket] of answer.buckets.entries()) {
          const next = answer.buckets[index + 1];
          assert.ok(bucket.startTime < bucket.endTime);
          if (next !== undefined) assert.equal(bucket.endTime, next.startTime);
          const own = minutes.filter(({ minute }) => {
            const iso = new Date(minute * 60_000).toISOString();
            return iso >= bucket.startTime && iso < bucket.endTime;
          });
          assert.equal(bucket.requests, 2 * own.length);
        }
        assert.equal(answer.bytes, 7 * minutes.length);
      },
    ),
    { numRuns: 50 },
  );
});

test('orders reasons by count, each with advice, as documented', () => {
  const sample = {
    at: '2026-04-01T08:30:00.000Z',
    kind: 'request',
    reason: 'forbidden',
    status: 403,
    detail: 'cannot',
    tokenId: null,
    peerAddress: '::1',
    contentType: null,
    bodyBytes: null,
  } as const;
  const answer = toStatisticsAnswer(
    'rcv_a',
    {
      minutes: [],
      reasons: [
        { kind: 'request', reason: 'forbidden', count: 1 },
        { kind: 'record', reason: 'series limit', count: 9 },
      ],
      samples: [sample],
      lastSeenAt: sample.at,
      lastAcceptedAt: null,
    },
    { span: hour, buckets: 1, queueSeconds: 1.5 },
  );
  assert.deepEqual(
    answer.reasons.map(({ reason }) => reason),
    ['series limit', 'forbidden'],
  );
  assert.match(answer.samples[0]?.advice ?? '', /ingest:write/);
  assert.deepEqual(statisticsAnswer.parse(answer), answer);
  assert.deepEqual(answer.lag, { queueSeconds: 1.5 });
});
