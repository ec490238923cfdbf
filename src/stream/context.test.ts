/** Both sides of a log in the one total order, within its own stream. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { decodeLogId, encodeLogId, maxTie } from '../model/log-id.ts';
import type { LogRecord } from '../model/plan.ts';
import { planContext } from './context.ts';
import { parseLogId } from './log-requests.ts';
import { planOneLog, toOneLog } from './one-log.ts';

const streams = ['a', 'b'].map((streamId) => ({
  streamId,
  accountId: 'acme',
  name: streamId,
  retentionDays: 30,
  dataDeletedUntil: null,
  createdAt: '',
})) satisfies Stream[];
const context = { accountId: 'acme', streams, nowMs: Date.parse('2026-04-01T00:00:00Z') };

const position = { timeNanos: 1_775_000_000_000_000_007n, tie: 42n };
const log = {
  logId: encodeLogId(position),
  streamId: 'b',
  host: '',
  serviceName: 'orders',
  serviceNamespace: 'shop',
} as LogRecord;

const asked = { streamId: undefined, before: 3, after: 5, same: undefined };

test('a log is looked for in its own nanosecond, and nowhere below or above', () => {
  const plan = planOneLog(context, position, { streamId: ['b'] });
  assert.equal(plan.filter.fromNanos, position.timeNanos);
  assert.equal(plan.filter.untilNanos, position.timeNanos + 1n);
  assert.deepEqual(plan.position, { timeNanos: position.timeNanos, tie: 43n });
  assert.deepEqual(
    plan.filter.streams.map(({ streamId }) => streamId),
    ['b'],
  );
  assert.equal(planOneLog(context, { ...position, tie: maxTie }, asked).position.tie, maxTie + 1n);
});

test('its neighbour is not taken for it', () => {
  const neighbour = { ...log, logId: encodeLogId({ ...position, tie: 41n }) };
  assert.equal(toOneLog(position, [log]), log);
  for (const logs of [[neighbour], []]) {
    assert.throws(
      () => toOneLog(position, logs),
      (error) => error instanceof AppError && error.code === 'not_found',
    );
  }
});

test('what is no logId is malformed', () => {
  assert.deepEqual(parseLogId(log.logId.toUpperCase()), decodeLogId(log.logId));
  const nil = '00000000-0000-0000-0000-000000000000';
  for (const text of ['', 'x', nil, '3f6f0c1e-8a54-4c1b-9d0e-1f2a3b4c5d6e', `${log.logId}0`]) {
    assert.throws(
      () => parseLogId(text),
      (error) => error instanceof AppError && error.code === 'malformed',
    );
  }
});

test('its context is its stream, on both sides of its position', () => {
  const { newer, older } = planContext(context, { log, position }, asked);
  for (const plan of [newer, older]) {
    assert.equal(plan.position, position);
    assert.deepEqual(
      plan.filter.streams.map(({ streamId }) => streamId),
      ['b'],
    );
    assert.equal(plan.filter.equal.size, 0);
    assert.equal(plan.untilWatermarkNanos, undefined);
  }
  assert.deepEqual([newer.direction, newer.limit], ['newer', 5]);
  assert.deepEqual([older.direction, older.limit], ['older', 3]);
});

test('the same host may be none; the same service has its namespace', () => {
  const query = { ...asked, same: ['host', 'service'] as const };
  const { older } = planContext(context, { log, position }, { ...query, same: [...query.same] });
  assert.deepEqual(
    [...older.filter.equal],
    [
      ['serviceName', ['orders']],
      ['host', ['']],
      ['serviceNamespace', ['shop']],
    ],
  );
});
