/** Formats of times in requests, and rejected ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTimestamp, toIsoMillis } from './timestamps.ts';

const taken: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['99999999', 99_999_999_000_000n],
  ['1775032200', 1_775_032_200_000_000_000n],
  ['1775032200.5', 1_775_032_200_500_000_000n],
  ['1775032200123', 1_775_032_200_123_000_000n],
  ['1775032200123456', 1_775_032_200_123_456_000n],
  ['1775032200123456789', 1_775_032_200_123_456_789n],
  ['2026-04-01T08:30:00Z', 1_775_032_200_000_000_000n],
  ['2026-04-01T08:30:00.1Z', 1_775_032_200_100_000_000n],
  ['2026-04-01T08:30:00.123456789Z', 1_775_032_200_123_456_789n],
  ['2026-04-01T10:30:00+02:00', 1_775_032_200_000_000_000n],
  ['2026-04-01T10:30:00 02:00', 1_775_032_200_000_000_000n],
  ['2026-04-01t05:00:00-03:30', 1_775_032_200_000_000_000n],
];
for (const [text, nanos] of taken) {
  test(`accepts "${text}"`, () => assert.equal(parseTimestamp(text), nanos));
}

const refused = [
  '',
  'now',
  '-1',
  '1.5',
  '99999999.5',
  '1775032200.',
  '9999999999',
  '9999999999999',
  '17750322001234567890',
  '2026-04-01',
  '2026-04-01T08:30:00',
  '2026-02-30T00:00:00Z',
  '2150-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '2026-04-01T08:30:00 2:00',
];
for (const text of refused) {
  test(`rejects "${text}"`, () => assert.equal(parseTimestamp(text), undefined));
}

test('truncates to milliseconds', () => {
  assert.equal(toIsoMillis(1_775_032_200_123_999_999n), '2026-04-01T08:30:00.123Z');
});
