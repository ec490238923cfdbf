/** Ticks of a time axis. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { formatSpan } from '../parts/text/time-text.ts';
import { timeTicks } from './time-ticks.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const labels = (from: string, until: string) =>
  timeTicks({ startMs: at(from), endMs: at(until), maxTicks: 5, zone: 'utc' }).map(
    ({ label }) => label,
  );

test('labels ticks according to their step', () => {
  assert.deepEqual(labels('2026-04-01T08:01:10', '2026-04-01T09:01:10'), [
    '08:15',
    '08:30',
    '08:45',
    '09:00',
  ]);
  assert.deepEqual(labels('2026-04-01T20:00:00', '2026-04-02T07:00:00'), [
    '21:00',
    '04-02',
    '03:00',
    '06:00',
  ]);
  assert.deepEqual(labels('2026-04-01T00:00:00', '2026-04-04T00:00:00'), [
    '04-01',
    '04-02',
    '04-03',
    '04-04',
  ]);
  assert.deepEqual(labels('2026-01-01T00:00:00', '2027-01-01T00:00:00'), [
    '2026-01',
    '2026-04',
    '2026-07',
    '2026-10',
  ]);
  assert.deepEqual(labels('2026-04-01T00:00:00', '2026-04-01T00:00:20'), [
    '00:00:00',
    '00:00:05',
    '00:00:10',
    '00:00:15',
    '00:00:20',
  ]);
  assert.deepEqual(labels('2026-04-01T00:00:00.001', '2026-04-01T00:00:00.003'), [
    '00:00:00.001',
    '00:00:00.002',
    '00:00:00.003',
  ]);
});

test('repeats the ticks of the hour that daylight saving time repeats', (t) => {
  const before = process.env['TZ'];
  process.env['TZ'] = 'Europe/Zurich';
  t.after(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  const local = (from: string, until: string) =>
    timeTicks({ startMs: at(from), endMs: at(until), maxTicks: 5, zone: 'local' }).map(
      ({ label }) => label,
    );
  assert.deepEqual(local('2026-10-25T00:00:00', '2026-10-25T02:00:00'), [
    '02:00',
    '02:30',
    '02:00',
    '02:30',
    '03:00',
  ]);
  assert.deepEqual(local('2026-10-24T21:00:00', '2026-10-25T08:00:00'), [
    '10-25',
    '03:00',
    '06:00',
    '09:00',
  ]);
});

test('returns ordered ticks within the axis, at most as many as requested', () => {
  const ms = fc.integer({ min: 0, max: at('2149-01-01T00:00:00') });
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.integer({ min: 2, max: 30 }),
      fc.constantFrom('local', 'utc'),
      (a, b, maxTicks, zone) => {
        const [startMs, endMs] = [Math.min(a, b), Math.max(a, b) + 1];
        const ticks = timeTicks({ startMs, endMs, maxTicks, zone });
        assert.ok(ticks.length <= maxTicks + 1);
        for (const [index, tick] of ticks.entries()) {
          assert.ok(tick.ms >= startMs && tick.ms <= endMs);
          if (index > 0) assert.ok(tick.ms > ticks[index - 1]!.ms);
        }
      },
    ),
  );
});

test('abbreviates the end of a range', () => {
  const from = at('2026-04-01T08:30:00');
  assert.equal(formatSpan(from, from + 60_000, 'utc'), '2026-04-01 08:30:00 – 08:31:00');
  assert.equal(formatSpan(from, from + 1, 'utc'), '2026-04-01 08:30:00.000 – 08:30:00.001');
  assert.match(formatSpan(from, from + 86_400_000, 'utc'), /– 2026-04-02 08:30:00$/);
});
