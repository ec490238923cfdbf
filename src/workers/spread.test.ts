/** How connections are spread over workers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSpread } from './spread.ts';

function createTaker() {
  const taken = new Set<number>();
  return {
    taken,
    connections: () => taken.size,
    hand: (connection: number) => void taken.add(connection),
  };
}

function openSpread(maxConnections: number) {
  const takers = [createTaker(), createTaker(), createTaker()] as const;
  const spread = createSpread<number>(maxConnections);
  for (const taker of takers) spread.add(taker);
  const hand = (from: number, until: number) => {
    for (let one = from; one < until; one++) assert.equal(spread.hand(one), undefined);
  };
  return { spread, takers, hand };
}

test('spreads long connections evenly', () => {
  const { spread, takers, hand } = openSpread(100);
  hand(0, 9);
  assert.deepEqual(
    takers.map(({ taken }) => taken.size),
    [3, 3, 3],
  );
  assert.equal(spread.connections(), 9);
});

test('takes turns for short connections', () => {
  const { spread, takers } = openSpread(100);
  const order: number[] = [];
  for (let one = 0; one < 6; one++) {
    spread.hand(one);
    order.push(takers.findIndex(({ taken }) => taken.delete(one)));
  }
  assert.deepEqual(order, [0, 1, 2, 0, 1, 2]);
});

test('a new worker catches up', () => {
  const { spread, takers, hand } = openSpread(100);
  hand(0, 9);
  spread.remove(takers[0]);
  const fresh = createTaker();
  spread.add(fresh);
  hand(9, 12);
  assert.equal(fresh.taken.size, 3);
});

test('refuses over the cap and without a worker', () => {
  const { spread, takers, hand } = openSpread(2);
  hand(0, 2);
  assert.equal(spread.hand(2), 'cap');
  for (const taker of takers) spread.remove(taker);
  assert.equal(spread.hand(3), 'no_worker');
});
