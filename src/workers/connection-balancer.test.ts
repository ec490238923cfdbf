/** Distribution of connections over workers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConnectionBalancer } from './connection-balancer.ts';

function createTarget() {
  const taken = new Set<number>();
  return {
    taken,
    connections: () => taken.size,
    hand: (connection: number) => void taken.add(connection),
  };
}

function openBalancer(maxConnections: number) {
  const targets = [createTarget(), createTarget(), createTarget()] as const;
  const balancer = createConnectionBalancer<number>(maxConnections);
  for (const target of targets) balancer.add(target);
  const hand = (from: number, until: number) => {
    for (let one = from; one < until; one++) assert.equal(balancer.hand(one), undefined);
  };
  return { balancer, targets, hand };
}

test('spreads long connections evenly', () => {
  const { balancer, targets, hand } = openBalancer(100);
  hand(0, 9);
  assert.deepEqual(
    targets.map(({ taken }) => taken.size),
    [3, 3, 3],
  );
  assert.equal(balancer.connections(), 9);
});

test('alternates between workers for short connections', () => {
  const { balancer, targets } = openBalancer(100);
  const order: number[] = [];
  for (let one = 0; one < 6; one++) {
    balancer.hand(one);
    order.push(targets.findIndex(({ taken }) => taken.delete(one)));
  }
  assert.deepEqual(order, [0, 1, 2, 0, 1, 2]);
});

test('a new worker gets connections until it has as many as the others', () => {
  const { balancer, targets, hand } = openBalancer(100);
  hand(0, 9);
  balancer.remove(targets[0]);
  const fresh = createTarget();
  balancer.add(fresh);
  hand(9, 12);
  assert.equal(fresh.taken.size, 3);
});

test('refuses over the cap and without a worker', () => {
  const { balancer, targets, hand } = openBalancer(2);
  hand(0, 2);
  assert.equal(balancer.hand(2), 'cap');
  for (const target of targets) balancer.remove(target);
  assert.equal(balancer.hand(3), 'no_worker');
});
