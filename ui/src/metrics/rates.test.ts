/** Rates of counters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCounter, toRates } from './rates.ts';

test('computes growth per second across resets and stale markers', () => {
  const counter = { times: [0, 10_000, 20_000, 30_000, 40_000], values: [5, 25, 3, Number.NaN, 4] };
  assert.deepEqual(toRates(counter), {
    times: [10_000, 20_000, 30_000, 40_000],
    values: [2, 0.3, Number.NaN, Number.NaN],
  });
});

test('one sample has no rate', () => {
  assert.deepEqual(toRates({ times: [1], values: [1] }), { times: [], values: [] });
});

test('detects counters', () => {
  assert.ok(isCounter('http_requests_total', undefined));
  assert.ok(isCounter('odd_name', 'counter'));
  assert.ok(!isCounter('load_total', 'gauge'));
  assert.ok(!isCounter('temperature', undefined));
});
