/** How far the clocks of browser and service are apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offsetBetween, serviceNowMs } from './service-clock.ts';

test('a real difference is told, a second of rounding is not', () => {
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

test('without an answer it is the time of this machine', () => {
  assert.ok(Math.abs(serviceNowMs() - Date.now()) < 1_000);
});
