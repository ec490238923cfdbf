import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createOverload } from './overload.ts';

const cap = 1_000_000;

function assertUnavailable(attempt: () => void): void {
  assert.throws(attempt, (error) => error instanceof AppError && error.code === 'unavailable');
}

test('what requests hold is counted until they let go of it', () => {
  const overload = createOverload(cap);
  const one = overload.reserve(1000, 4);
  const two = overload.reserve(0, 4);
  const held = overload.inFlightBytes();
  assert.ok(held >= 4000);
  one.growTo(10_000);
  assert.equal(overload.inFlightBytes(), held + 36_000);
  one.growTo(500);
  one.coverHeap(40_000);
  assert.equal(overload.inFlightBytes(), held + 36_000, 'it never shrinks');
  one.coverHeap(50_000);
  assert.equal(overload.inFlightBytes(), held + 46_000);
  one.release();
  one.release();
  two.release();
  assert.equal(overload.inFlightBytes(), 0);
});

test('over the cap others are refused, and a request that would pass it keeps its share', () => {
  const overload = createOverload(cap);
  const first = overload.reserve(100_000, 4);
  const second = overload.reserve(100_000, 4);
  assertUnavailable(() => overload.reserve(100_000, 4));
  const held = overload.inFlightBytes();
  assertUnavailable(() => first.growTo(200_000));
  assertUnavailable(() => second.coverHeap(700_000));
  assert.equal(overload.inFlightBytes(), held);
  second.release();
  first.coverHeap(700_000);
  first.release();
});

test('one request alone may pass the cap', () => {
  const overload = createOverload(cap);
  const only = overload.reserve(10 * cap, 4);
  only.coverHeap(100 * cap);
  assertUnavailable(() => overload.reserve(1, 1));
  only.release();
  overload.reserve(1, 1).release();
});
