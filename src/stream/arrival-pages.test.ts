/** Pages that tails share, and aborted requests. */
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

const { signal } = new AbortController();

test('a request that was already aborted does not abort the shared page', async () => {
  const store = {
    arrivals: async () => ({ logs: [], isComplete: true }),
    countArrivals: async () => 0,
  };
  const pages = createArrivalPages(store, 1);
  const [left, stays] = await Promise.allSettled([
    pages.read(plan, { signal: AbortSignal.abort(), lane: 'live' }),
    pages.read(plan, { signal, lane: 'live' }),
  ]);
  assert.equal(left.status, 'rejected');
  assert.equal(stays.status, 'fulfilled');
});

test('reads that catch up do not delay live reads', async () => {
  const asked: number[] = [];
  const store = {
    arrivals: async ({ limit }: { readonly limit: number }) => {
      asked.push(limit);
      return { logs: [], isComplete: true };
    },
    countArrivals: async () => 0,
  };
  const pages = createArrivalPages(store, 1);
  const behind = [1, 2, 3, 4, 5].map((limit) =>
    pages.read({ ...plan, limit }, { signal, lane: 'catchUp' }),
  );
  const live = [6, 7].map((limit) => pages.read({ ...plan, limit }, { signal, lane: 'live' }));
  await Promise.all([...behind, ...live]);
  assert.deepEqual(asked, [1, 6, 2, 7, 3, 4, 5]);
});
