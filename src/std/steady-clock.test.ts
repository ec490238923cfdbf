/** A wall clock whose jumps ahead count only once they have lasted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSteadyClock } from './steady-clock.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function startClock() {
  const state = { wall: 1_000 * dayMs, monotonic: 5_000 };
  const clock = createSteadyClock(
    () => state.wall,
    () => state.monotonic,
  );
  const pass = (ms: number) => {
    state.wall += ms;
    state.monotonic += ms;
    return clock();
  };
  return { state, pass };
}

test('follows time as it passes, however long between two calls', () => {
  const { state, pass } = startClock();
  assert.equal(pass(10_000), state.wall);
  assert.equal(pass(400 * dayMs), state.wall);
});

test('ignores a jump ahead that is set right within an hour', () => {
  const { state, pass } = startClock();
  state.wall += 400 * dayMs;
  assert.equal(pass(10_000), state.wall - 400 * dayMs);
  assert.equal(pass(hourMs - 10_000), state.wall - 400 * dayMs);
  state.wall -= 400 * dayMs;
  assert.equal(pass(10_000), state.wall);
  state.wall += dayMs;
  assert.equal(pass(hourMs / 2), state.wall - dayMs);
});

test('returns whole milliseconds, though the monotonic clock has parts of them', () => {
  const { state, pass } = startClock();
  state.wall += 400 * dayMs;
  state.monotonic += 0.3;
  assert.equal(pass(10_000), state.wall - 400 * dayMs);
});

test('follows a jump ahead that lasts, such as a time of suspension', () => {
  const { state, pass } = startClock();
  state.wall += 3 * dayMs;
  assert.equal(pass(0), state.wall - 3 * dayMs);
  assert.equal(pass(hourMs), state.wall);
  assert.equal(pass(10_000), state.wall);
});

test('follows a jump back and a slewed clock at once', () => {
  const { state, pass } = startClock();
  state.wall -= 3 * dayMs;
  assert.equal(pass(10_000), state.wall);
  for (let i = 0; i < 100; i += 1) {
    state.wall += 5_000;
    assert.equal(pass(10_000), state.wall);
  }
});
