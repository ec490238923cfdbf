/** Pages that several tails share, and tails that leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrivalsUntil } from '../model/arrival.ts';
import { createArrivalPages } from './arrival-pages.ts';
import { toFilter } from './plan.ts';

const plan = {
  filter: toFilter({ accountId: 'acme', streams: [], nowMs: 0 }, {}),
  after: arrivalsUntil(0n),
  untilNanos: 1n,
  limit: 1,
  maxBytes: 1,
};

test('who asks after leaving takes the page from nobody', async () => {
  const store = {
    arrivals: async () => ({ logs: [], isComplete: true }),
    countArrivals: async () => 0,
  };
  const pages = createArrivalPages(store, 1);
  const [left, stays] = await Promise.allSettled([
    pages.read(plan, AbortSignal.abort()),
    pages.read(plan, new AbortController().signal),
  ]);
  assert.equal(left.status, 'rejected');
  assert.equal(stays.status, 'fulfilled');
});
