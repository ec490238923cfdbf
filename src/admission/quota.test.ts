/** Quotas in memory with a test clock: levels, debt, refunds and response headers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Receiver, ReceiverGrant } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createMemoryQuota } from './memory-quota.ts';
import { chargeEvents, checkDebt } from './quota.ts';

function grantOf(
  eventsPerSecond: number | null,
  burstEvents: number | null,
  accountEventsPerSecond: number | null = null,
): ReceiverGrant {
  const limits = { eventsPerSecond, burstEvents, maxBodyBytes: null };
  return {
    receiver: { receiverId: 'r', accountId: 'a', limits } as Receiver,
    accountEventsPerSecond,
  };
}

function openQuota() {
  const clock = { ms: 0 };
  return { clock, store: createMemoryQuota(() => clock.ms) };
}

const isExceeded = (error: unknown) => error instanceof AppError && error.code === 'quota_exceeded';

test('charges nothing without limits', async () => {
  const { store } = openQuota();
  const charge = await chargeEvents(store, grantOf(null, null), 1e9);
  assert.equal(charge.rateLimit, undefined);
  checkDebt(store, grantOf(null, null));
});

test('accepts a batch beyond the burst and pays it off afterwards', async () => {
  const { clock, store } = openQuota();
  const grant = grantOf(10, 20);
  await chargeEvents(store, grant, 100);
  clock.ms = 7999;
  assert.throws(() => checkDebt(store, grant), isExceeded);
  await assert.rejects(chargeEvents(store, grant, 1), isExceeded);
  clock.ms = 8100;
  checkDebt(store, grant);
});

test('refunds events that were not appended', async () => {
  const { store } = openQuota();
  const grant = grantOf(10, 20);
  const charge = await chargeEvents(store, grant, 20);
  assert.throws(() => checkDebt(store, grant), isExceeded);
  charge.refund();
  const next = await chargeEvents(store, grant, 1);
  assert.equal(next.rateLimit?.state, '"receiver";r=19;t=0');
});

test('a refused charge changes no bucket', async () => {
  const { store } = openQuota();
  await chargeEvents(store, grantOf(null, null, 1), 10);
  await assert.rejects(chargeEvents(store, grantOf(10, 20, 1), 5), isExceeded);
  const { rateLimit } = await chargeEvents(store, grantOf(10, 20), 0);
  assert.equal(rateLimit?.state, '"receiver";r=20;t=0');
});

test('sends Retry-After of 1 to 5 seconds and the remainder in RateLimit', async () => {
  const { store } = openQuota();
  const grant = grantOf(10, 20);
  await chargeEvents(store, grant, 1020);
  assert.throws(
    () => checkDebt(store, grant),
    (error) =>
      error instanceof AppError &&
      error.retryAfterSeconds === 5 &&
      error.rateLimit?.state === '"receiver";r=0;t=100' &&
      error.rateLimit.policy === '"receiver";q=20;w=2',
  );
});

test('accepts at most burst, rate and one last batch', () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.nat(3000), events: fc.integer({ min: 1, max: 50 }) }),
  );
  const property = fc.asyncProperty(steps, async (sent) => {
    const { clock, store } = openQuota();
    const grant = grantOf(7, 30);
    let taken = 0;
    for (const { waitMs, events } of sent) {
      clock.ms += waitMs;
      const isTaken = await chargeEvents(store, grant, events).then(
        () => true,
        () => false,
      );
      if (isTaken) taken += events;
    }
    assert.ok(taken <= 30 + (7 * clock.ms) / 1000 + 50);
  });
  return fc.assert(property);
});
