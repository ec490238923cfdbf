/** Estimates the clock difference between browser and service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offsetBetween, serviceNowMs } from './service-clock.ts';

test('reports a real difference and ignores a second of rounding', () => {
  const nowMs = Date.parse('2026-11-21T02:00:00.400Z');
  const cases: readonly (readonly [string | null, number | undefined])[] = [
    ['Sat, 21 Nov 2026 02:00:00 GMT', 0],
    ['Sat, 21 Nov 2026 01:59:58 GMT', 0],
    ['Sat, 21 Nov 2026 02:10:00 GMT', 599_600],
    ['Sat, 21 Nov 2026 01:50:00 GMT', -600_400],
    ['soon', undefined],
    [null, undefined],
  ];
  for (const [date, expected] of cases) {
    assert.equal(offsetBetween(date, nowMs), expected, date ?? '');
  }
});

test('uses the local time before the first response', () => {
  assert.ok(Math.abs(serviceNowMs() - Date.now()) < 1_000);
});
