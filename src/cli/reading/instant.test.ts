/** Parses and formats times. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showInstant, toInstant, toRoundRange } from './instant.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');

const given: readonly [string, string][] = [
  ['now', '2026-11-21T12:00:00.000Z'],
  ['90s', '2026-11-21T11:58:30.000Z'],
  ['15m', '2026-11-21T11:45:00.000Z'],
  ['now-1h', '2026-11-21T11:00:00.000Z'],
  ['1h30m', '2026-11-21T10:30:00.000Z'],
  ['2d', '2026-11-19T12:00:00.000Z'],
  ['1w', '2026-11-14T12:00:00.000Z'],
  ['250ms', '2026-11-21T11:59:59.750Z'],
  ['99999w', '1970-01-01T00:00:00.000Z'],
  ['2026-11-20', '2026-11-20T00:00:00Z'],
  ['2026-11-20 08:30', '2026-11-20T08:30:00Z'],
  ['2026-11-20T08:30:00.123456789', '2026-11-20T08:30:00.123456789Z'],
  ['2026-11-20T08:30:00+02:00', '2026-11-20T08:30:00+02:00'],
  ['2026-11-20 08:30z', '2026-11-20T08:30:00Z'],
  ['1700000000', '2023-11-14T22:13:20.000Z'],
  ['1700000000.25', '2023-11-14T22:13:20.250Z'],
  ['1700000000000', '2023-11-14T22:13:20.000Z'],
  ['1700000000000000001', '2023-11-14T22:13:20.000000001Z'],
];
for (const [text, expected] of given) {
  test(`reads ${text} as ${expected}`, () => assert.equal(toInstant(text, now, 'utc'), expected));
}

for (const text of [
  '',
  'yesterday',
  '1',
  '17000000',
  '9999999999',
  '17000000000000000000',
  '1x',
  '-1h',
  '2026-13-01',
  '2026-11-20T25:00',
  '1h30',
]) {
  test(`rejects ${JSON.stringify(text)} as a time`, () => {
    assert.throws(() => toInstant(text, now, 'utc'), /Give a time such as/);
  });
}

test('reads a time without an offset in the zone and shows it unchanged', () => {
  const instant = toInstant('2026-07-01 08:30:00.5', now, 'local');
  assert.match(instant, /^2026-07-01T08:30:00\.5[+-]\d\d:\d\d$/);
  assert.equal(showInstant(instant, 'local'), '2026-07-01 08:30:00.500');
});

test('marks a time in UTC with Z', () => {
  assert.equal(showInstant('2026-07-01T08:30:00.123Z', 'utc'), '2026-07-01 08:30:00.123Z');
});

const rounded: readonly [string, string, string, string, number][] = [
  ['11:17:23.456', '12:17:23.456', '11:15:00', '12:20:00', 13],
  ['06:17:00', '12:17:00', '06:00:00', '12:30:00', 13],
  ['11:00:00', '12:00:00', '11:00:00', '12:00:00', 12],
  ['12:00:00', '12:00:00.010', '12:00:00', '12:00:00.010', 10],
];
for (const [since, until, start, end, parts] of rounded) {
  test(`widens ${since} – ${until} to ${parts} round parts`, () => {
    const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);
    const range = { sinceMs: at(since), untilMs: at(until) };
    const expected = { sinceMs: at(start), untilMs: at(end), parts };
    assert.deepEqual(toRoundRange(range, { most: 20, zone: 'utc' }), expected);
  });
}
