/**
 * The pace of inserts: at once when idle, small parts under a light load, large parts under a heavy
 * one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DrainPace, shareOf } from './drain.ts';

const options = { minIntervalMs: 200, maxIntervalMs: 1000, heavyRowsPerSecond: 100_000 };

test('starts the first insert at once, also after a quiet time', () => {
  const pace = new DrainPace(options);
  assert.ok(pace.dueMs <= 0);
  pace.began(5000, 1);
  assert.ok(pace.dueMs <= 5201);
});

test('limits a light load to five parts per second', () => {
  const pace = new DrainPace(options);
  let inserts = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
    if (nowMs < pace.dueMs) continue;
    pace.began(nowMs, 3);
    inserts++;
  }
  assert.ok(inserts >= 45 && inserts <= 50, `${inserts} inserts`);
});

test('lets inserts fill up under a heavy load, up to the limit', () => {
  const pace = new DrainPace(options);
  let nowMs = 0;
  for (let insert = 0; insert < 10; insert++) {
    const gatheredMs = insert === 0 ? 200 : pace.dueMs - nowMs;
    nowMs += gatheredMs;
    pace.began(nowMs, 150 * gatheredMs);
  }
  assert.equal(pace.dueMs - nowMs, 1000);
  pace.began(pace.dueMs, 10);
  assert.ok(pace.dueMs - nowMs <= 1201, 'the interval recovers after the load');
});

test('each of several drains keeps the interval of a single one', () => {
  const alone = new DrainPace(options);
  const shared = new DrainPace(shareOf(options, 4));
  for (const rowsPerSecond of [0, 10_000, 50_000, 100_000, 500_000]) {
    alone.began(1000, 0);
    shared.began(1000, 0);
    alone.began(2000, rowsPerSecond);
    shared.began(2000, rowsPerSecond / 4);
    assert.equal(shared.dueMs, alone.dueMs, `${rowsPerSecond} rows/s`);
  }
  assert.equal(shared.dueMs, 3000, 'at most the limit');
});
