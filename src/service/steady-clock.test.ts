/** A wall clock whose jumps ahead count only once they have lasted. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { openSteadyClock } from './steady-clock.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function startClock(file = join(temporaryFolder(), 'clock'), wall = 1_000 * dayMs) {
  const state = { wall, monotonic: 5_000 };
  const clocks = { wall: () => state.wall, monotonic: () => state.monotonic };
  const clock = openSteadyClock(file, clocks);
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

test('follows at a start only after an hour what is a day ahead of the last run', () => {
  const file = join(temporaryFolder(), 'clock');
  const before = startClock(file);
  before.pass(10 * dayMs);
  const known = before.state.wall;
  const { state, pass } = startClock(file, known + 400 * dayMs);
  assert.equal(pass(10_000), known + 10_000);
  assert.equal(pass(hourMs - 20_000), known + hourMs - 10_000);
  assert.equal(pass(10_000), state.wall);
  // Set right, and started again.
  const right = startClock(file, known);
  assert.equal(right.pass(10_000), right.state.wall);
  assert.equal(startClock(file, known).pass(0), known);
});

function startRuns() {
  const file = join(temporaryFolder(), 'clock');
  const run = (wall: number, minutes: number) => {
    const { state, pass } = startClock(file, wall);
    for (let minute = 0; minute < minutes; minute += 1) pass(60_000);
    return { behindMs: state.wall - pass(0), wall: state.wall };
  };
  return { file, run };
}

test('follows it at a first call hours after the start only as far as it was at the start', () => {
  const file = join(temporaryFolder(), 'clock');
  startClock(file).pass(0);
  const { state, pass } = startClock(file, 1_003 * dayMs);
  state.wall += 400 * dayMs;
  assert.equal(pass(2 * hourMs), 1_003 * dayMs + 2 * hourMs);
  assert.equal(pass(hourMs), 1_003 * dayMs + 3 * hourMs);
});

test('follows it after an hour of several runs, and not before another hour the next time', () => {
  const { run } = startRuns();
  let { wall } = run(1_000 * dayMs, 1);
  wall += 3 * dayMs;
  for (const minutes of [25, 25, 9]) {
    const next = run(wall, minutes);
    assert.ok(next.behindMs >= 3 * dayMs, `${next.behindMs}`);
    ({ wall } = next);
  }
  assert.equal(run(wall + 1, 3).behindMs, 0);
  assert.ok(run(wall + 4 * dayMs, 50).behindMs >= 3 * dayMs);
  // Set right: what was counted before does not count for the next jump.
  assert.equal(run(wall + dayMs / 2, 1).behindMs, 0);
  assert.ok(run(wall + 8 * dayMs, 50).behindMs >= 7 * dayMs);
});

test('follows no further than it was ahead for the whole hour', () => {
  const { run } = startRuns();
  const first = run(1_000 * dayMs, 1);
  const right = run(first.wall + 3 * dayMs, 50);
  const wrong = run(right.wall + 400 * dayMs, 20);
  assert.equal(wrong.behindMs, 400 * dayMs);
  const still = run(wrong.wall, 45);
  assert.equal(still.behindMs, 400 * dayMs);
  // Far ahead in the run before.
  const { behindMs, wall } = run(right.wall + 6 * dayMs, 10);
  assert.equal(behindMs, 0);
  assert.ok(run(wall + 400 * dayMs, 50).behindMs >= 400 * dayMs);
});

test('counts no minute before the clock was set right, and none of an earlier version', () => {
  const { file, run } = startRuns();
  const { wall } = run(1_000 * dayMs, 1);
  const saved = `${new Date(wall).toISOString()} `;
  writeFileSync(file, `${saved}59000 ${wall + 9 * dayMs}`);
  assert.equal(run(wall, 1).behindMs, 0);
  assert.ok(!readFileSync(file, 'utf8').includes(' '));
  writeFileSync(file, `${saved}3000000`);
  assert.ok(run(wall + 2 * dayMs, 20).behindMs > dayMs);
});

test('follows the clock at a start after a short stop, and without a legible time', () => {
  const file = join(temporaryFolder(), 'clock');
  startClock(file).pass(0);
  const next = startClock(file, 1_000.5 * dayMs);
  assert.equal(next.pass(0), next.state.wall);
  writeFileSync(file, 'x');
  const { state, pass } = startClock(file, 3_000 * dayMs);
  assert.equal(pass(0), state.wall);
});
