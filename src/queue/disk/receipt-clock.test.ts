/** Receive times increase, and a passed second is not used again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReceiptClock } from './receipt-clock.ts';

const nanosPerMs = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;

test('stamps increase even if the clock goes back', () => {
  let nowMs = 1000;
  const clock = new ReceiptClock(5n, () => nowMs);
  assert.deepEqual([clock.stamp(), clock.stamp()], [1_000_000_000n, 1_000_000_001n]);
  nowMs = 900;
  assert.deepEqual([clock.stamp(), clock.pass()], [1_000_000_002n, 1_000_000_002n]);
  nowMs = 2000;
  assert.deepEqual([clock.pass(), clock.stamp()], [2_000_000_000n, 2_000_000_001n]);
  assert.equal(clock.last, 2_000_000_001n);
});

test('passSecond separates earlier from later stamps', () => {
  const step = fc.record({ byMs: fc.integer({ min: -5000, max: 5000 }), stamps: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step), fc.nat(999), (steps, ms) => {
      let nowMs = 1_000_000 + ms;
      const clock = new ReceiptClock(0n, () => nowMs);
      for (const { byMs, stamps } of steps) {
        nowMs += byMs;
        for (let i = 0; i < stamps; i += 1) clock.stamp();
        const [before, now] = [clock.last, nowMs];
        const line = clock.passSecond();
        assert.ok(
          line >= before && line >= BigInt(now) * nanosPerMs,
          'earlier batches are before the line',
        );
        assert.equal(line % nanosPerSecond, nanosPerSecond - nanosPerMs);
        const next = clock.stamp();
        assert.ok(
          next / nanosPerSecond > line / nanosPerSecond,
          'later batches are in another second',
        );
      }
    }),
  );
});
