/** The cap on memory in flight: who is kept out, and who never is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createOverload, type Overload } from './overload.ts';
import type { MemoryLease } from './port.ts';

const cap = 1_000_000;

/** A lease of a body that is here. */
function arrived(overload: Overload, bodyBytes: number): MemoryLease {
  const lease = overload.reserve(bodyBytes, 4);
  lease.growTo(bodyBytes);
  return lease;
}

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
  const first = arrived(overload, 100_000);
  const second = arrived(overload, 100_000);
  assertUnavailable(() => overload.reserve(100_000, 4));
  const held = overload.inFlightBytes();
  assertUnavailable(() => first.growTo(200_000));
  assertUnavailable(() => second.coverHeap(700_000));
  assert.equal(overload.inFlightBytes(), held);
  second.release();
  first.coverHeap(700_000);
  first.release();
});

test('one large request may pass the cap, and beside it small ones find room', () => {
  const overload = createOverload(cap);
  const only = overload.reserve(10 * cap, 4);
  only.coverHeap(100 * cap);
  assertUnavailable(() => overload.reserve(cap / 10, 1));
  const small = Array.from({ length: 25 }, () => overload.reserve(500, 1));
  assertUnavailable(() => Array.from({ length: 100 }, () => overload.reserve(500, 1)));
  assertUnavailable(() => small[0]?.growTo(cap / 10));
  only.release();
  small[0]?.growTo(cap / 10);
});

test('a large request is not kept out by many small ones, nor by one that has ended', () => {
  const overload = createOverload(cap);
  const small: ReturnType<typeof overload.reserve>[] = [];
  assertUnavailable(() => {
    for (;;) small.push(overload.reserve(500, 1));
  });
  assert.ok(overload.inFlightBytes() > 0.99 * cap);
  const first = overload.reserve(2 * cap, 1);
  first.growTo(2 * cap);
  assertUnavailable(() => overload.reserve(cap / 10, 1));
  first.release();
  const second = overload.reserve(cap / 10, 1);
  second.release();
  for (const one of small) one.release();
  assert.equal(overload.inFlightBytes(), 0);
});

test('a body holds what has arrived of it, not what it is declared to be', () => {
  const overload = createOverload(cap);
  const slow = overload.reserve(200_000, 4);
  assert.ok(overload.inFlightBytes() < 0.1 * cap);
  const beside = arrived(overload, 100_000);
  assertUnavailable(() => slow.growTo(200_000));
  beside.release();
  slow.growTo(200_000);
  assert.ok(overload.inFlightBytes() > 0.8 * cap);
});
