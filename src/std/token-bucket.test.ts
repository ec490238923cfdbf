/** The token bucket: burst, refill and debt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokenBucket } from './token-bucket.ts';

function open() {
  const clock = { nowMs: 0 };
  return { clock, bucket: createTokenBucket({ burst: 10, perSecond: 2 }, () => clock.nowMs) };
}

test('allows one burst at once', () => {
  const { bucket } = open();
  assert.equal(bucket.isFull(), true);
  assert.equal(bucket.take(10), true);
  assert.equal(bucket.isFull(), false);
  assert.equal(bucket.take(1), false);
});

test('a refused take charges nothing', () => {
  const { bucket } = open();
  assert.equal(bucket.take(11), false);
  assert.equal(bucket.isFull(), true);
});

test('refills over time up to the burst', () => {
  const { bucket, clock } = open();
  bucket.take(10);
  clock.nowMs = 1000;
  assert.equal(bucket.take(2), true);
  assert.equal(bucket.take(1), false);
  clock.nowMs = 60_000;
  assert.equal(bucket.isFull(), true);
  assert.equal(bucket.take(11), false);
});

test('refills a debt first and limits it to one burst', () => {
  const { bucket, clock } = open();
  bucket.charge(1000);
  clock.nowMs = 5000;
  assert.equal(bucket.take(1), false);
  clock.nowMs = 5500;
  assert.equal(bucket.take(1), true);
});
