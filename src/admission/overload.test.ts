/** The cap on memory in flight and its fair shares. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createOverload, type Overload } from './overload.ts';
import type { MemoryLease } from './port.ts';

const cap = 1_000_000;
const account = 'account';

/** A lease with all bytes of its body charged. */
function arrived(overload: Overload, bodyBytes: number, of = account): MemoryLease {
  const lease = overload.reserve(of, bodyBytes, 4);
  lease.growTo(bodyBytes);
  return lease;
}

function assertUnavailable(attempt: () => void): void {
  assert.throws(attempt, (error) => error instanceof AppError && error.code === 'unavailable');
}

test('counts the bytes of requests until their release', () => {
  const overload = createOverload(cap);
  const one = overload.reserve(account, 1000, 4);
  const two = overload.reserve(account, 0, 4);
  const held = overload.inFlightBytes();
  assert.ok(held >= 4000);
  one.growTo(10_000);
  assert.equal(overload.inFlightBytes(), held + 36_000);
  one.growTo(500);
  one.coverHeap(40_000);
  assert.equal(overload.inFlightBytes(), held + 36_000, 'it must not shrink');
  one.coverHeap(50_000);
  assert.equal(overload.inFlightBytes(), held + 46_000);
  one.release();
  one.release();
  two.release();
  assert.equal(overload.inFlightBytes(), 0);
});

test('refuses requests over the cap; a request that fails to grow keeps its share', () => {
  const overload = createOverload(cap);
  const first = arrived(overload, 100_000);
  const second = arrived(overload, 100_000, 'another');
  assertUnavailable(() => overload.reserve('a third', 100_000, 4));
  const held = overload.inFlightBytes();
  assertUnavailable(() => first.growTo(200_000));
  assertUnavailable(() => second.coverHeap(700_000));
  assert.equal(overload.inFlightBytes(), held);
  second.release();
  first.coverHeap(700_000);
  first.release();
});

test('lets one large request exceed the cap and leaves room for others', () => {
  const overload = createOverload(cap);
  const only = overload.reserve(account, 10 * cap, 4);
  only.coverHeap(100 * cap);
  assertUnavailable(() => overload.reserve(account, cap / 10, 1));
  const small = ['a', 'b', 'c'].flatMap((of) =>
    Array.from({ length: 6 }, () => overload.reserve(of, 500, 1)),
  );
  assertUnavailable(() => Array.from({ length: 100 }, () => overload.reserve(account, 500, 1)));
  small[0]?.growTo(cap / 10);
  assertUnavailable(() => small[1]?.growTo((cap * 6) / 10));
  only.release();
  small[1]?.growTo((cap * 6) / 10);
});

test('small or ended requests do not keep a large one out', () => {
  const overload = createOverload(cap);
  const small: ReturnType<typeof overload.reserve>[] = [];
  for (let i = 0; i < 20; i += 1) {
    assertUnavailable(() => {
      for (;;) small.push(overload.reserve(`account ${i}`, 500, 1));
    });
  }
  assert.ok(overload.inFlightBytes() > 0.99 * cap);
  const first = overload.reserve(account, 2 * cap, 1);
  first.growTo(2 * cap);
  assertUnavailable(() => overload.reserve(account, cap / 10, 1));
  first.release();
  const second = overload.reserve(account, cap / 10, 1);
  second.release();
  for (const one of small) one.release();
  assert.equal(overload.inFlightBytes(), 0);
});

test('charges arrived bytes, not the declared length', () => {
  const overload = createOverload(cap);
  const slow = overload.reserve(account, 200_000, 4);
  assert.ok(overload.inFlightBytes() < 0.1 * cap);
  const beside = arrived(overload, 100_000, 'another');
  assertUnavailable(() => slow.growTo(200_000));
  beside.release();
  slow.growTo(200_000);
  assert.ok(overload.inFlightBytes() > 0.8 * cap);
});

test('an account cannot use up the cap', () => {
  const [small, large, huge] = [500, 20_000, 200_000];
  const cases = [
    [small, small],
    [small, large],
    [large, small],
    [large, large],
    [huge, small],
    [huge, large],
  ] as const;
  for (const [flood, other] of cases) {
    const overload = createOverload(cap);
    assertUnavailable(() => {
      for (;;) arrived(overload, flood);
    });
    arrived(overload, other, 'another');
  }
});

test('a slow account cannot use up the cap', () => {
  const overload = createOverload(cap);
  const slow: MemoryLease[] = [];
  assertUnavailable(() => {
    for (;;) slow.push(overload.reserve(account, 100_000, 4));
  });
  assertUnavailable(() => {
    for (const lease of slow) lease.growTo(50_000);
  });
  arrived(overload, 20_000, 'another');
  assertUnavailable(() => {
    for (;;) overload.reserve(account, 100, 4);
  });
  arrived(overload, 100, 'another');
});

test('names the held bytes, the limit and the setting', () => {
  const overload = createOverload(cap);
  arrived(overload, 100_000);
  assert.throws(
    () => arrived(overload, 100_000),
    /the account has 404096 of 1000000 bytes.* raise ingest\.maxInFlightBytes$/,
  );
});
