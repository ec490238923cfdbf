/** The token bucket: burst, refill and debt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAllowance } from './allowance.ts';

function open() {
  const clock = { nowMs: 0 };
  return { clock, allowance: createAllowance({ burst: 10, perSecond: 2 }, () => clock.nowMs) };
}

test('allows one burst at once', () => {
  const { allowance } = open();
  assert.equal(allowance.isFull(), true);
  assert.equal(allowance.take(10), true);
  assert.equal(allowance.isFull(), false);
  assert.equal(allowance.take(1), false);
});

test('a refused take charges nothing', () => {
  const { allowance } = open();
  assert.equal(allowance.take(11), false);
  assert.equal(allowance.isFull(), true);
});

test('refills over time up to the burst', () => {
  const { allowance, clock } = open();
  allowance.take(10);
  clock.nowMs = 1000;
  assert.equal(allowance.take(2), true);
  assert.equal(allowance.take(1), false);
  clock.nowMs = 60_000;
  assert.equal(allowance.isFull(), true);
  assert.equal(allowance.take(11), false);
});

test('refills a debt first and limits it to one burst', () => {
  const { allowance, clock } = open();
  allowance.charge(1000);
  clock.nowMs = 5000;
  assert.equal(allowance.take(1), false);
  clock.nowMs = 5500;
  assert.equal(allowance.take(1), true);
});
