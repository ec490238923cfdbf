/** What may be spent at once, what comes back with time, and how deep debt gets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAllowance } from './allowance.ts';

function open() {
  const clock = { nowMs: 0 };
  return { clock, allowance: createAllowance({ burst: 10, perSecond: 2 }, () => clock.nowMs) };
}

test('a burst may be spent at once, and no more', () => {
  const { allowance } = open();
  assert.equal(allowance.isFull(), true);
  assert.equal(allowance.take(10), true);
  assert.equal(allowance.isFull(), false);
  assert.equal(allowance.take(1), false);
});

test('what is refused costs nothing', () => {
  const { allowance } = open();
  assert.equal(allowance.take(11), false);
  assert.equal(allowance.isFull(), true);
});

test('it grows with time, up to the burst', () => {
  const { allowance, clock } = open();
  allowance.take(10);
  clock.nowMs = 1000;
  assert.equal(allowance.take(2), true);
  assert.equal(allowance.take(1), false);
  clock.nowMs = 60_000;
  assert.equal(allowance.isFull(), true);
  assert.equal(allowance.take(11), false);
});

test('debt is paid back first, and is no larger than the burst', () => {
  const { allowance, clock } = open();
  allowance.charge(1000);
  clock.nowMs = 5000;
  assert.equal(allowance.take(1), false);
  clock.nowMs = 5500;
  assert.equal(allowance.take(1), true);
});
