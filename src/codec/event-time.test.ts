/** Event times: accepted forms, and agreement with `Date`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseEpoch, parseRfc3339, requestTimeForm } from './event-time.ts';
import { maxEventTimeMillis } from '../model/log-id.ts';
import { RowWriter } from './row-writer.ts';

function rfc3339(text: string): bigint | undefined {
  const padded = Buffer.from(`<${text}>`);
  return toNanos(parseRfc3339(padded, 1, padded.length - 1));
}

function toNanos(time: ReturnType<typeof parseEpoch>): bigint | undefined {
  return time && BigInt(time.millis) * 1_000_000n + BigInt(time.nanos);
}

describe('parses RFC 3339', () => {
  const readable: [text: string, nanos: bigint][] = [
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01T00:00:00.000000001Z', 1n],
    ['1970-01-01T01:00:00+01:00', 0n],
    ['1970-01-01T00:00:00-00:30', 1_800_000_000_000n],
    ['2024-02-29 12:00:00.5z', 1_709_208_000_500_000_000n],
    ['2024-02-29t12:00:00.1234567899Z', 1_709_208_000_123_456_789n],
    ['2016-12-31T23:59:60Z', 1_483_228_799_999_999_999n],
    ['2148-12-31T23:59:59.999999999Z', 5_648_745_599_999_999_999n],
  ];
  for (const [text, nanos] of readable) test(text, () => assert.equal(rfc3339(text), nanos));

  for (const text of [
    '',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '2149-01-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2023-13-01T00:00:00Z',
    '2023-00-10T00:00:00Z',
    '2023-01-00T00:00:00Z',
    '2023-01-01T24:00:00Z',
    '2023-01-01T00:60:00Z',
    '2023-01-01T00:00:61Z',
    '2023-01-01T00:00:00',
    '2023-01-01T00:00:00.Z',
    '2023-01-01T00:00:00Zx',
    '2023-01-01T00:00:00+24:00',
    '2023-01-01T00:00:00+0100',
    '2023/01/01T00:00:00Z',
    '2O23-01-01T00:00:00Z',
    '2023-01-01',
    '-023-01-01T00:00:00Z',
  ]) {
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(rfc3339(text), undefined));
  }

  test('agrees with Date on generated times', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxEventTimeMillis - 1 }), (millis) => {
        assert.equal(rfc3339(new Date(millis).toISOString()), BigInt(millis) * 1_000_000n);
      }),
    );
  });
});

describe('parses Unix time by magnitude', () => {
  const readable: [text: string, nanos: bigint][] = [
    ['0', 0n],
    ['1700000000', 1_700_000_000_000_000_000n],
    ['1700000000.000000001', 1_700_000_000_000_000_001n],
    ['1700000000123', 1_700_000_000_123_000_000n],
    ['1700000000123.25', 1_700_000_000_123_250_000n],
    ['1700000000123456', 1_700_000_000_123_456_000n],
    ['1700000000123456789', 1_700_000_000_123_456_789n],
    ['1.7e9', 1_700_000_000_000_000_000n],
  ];
  for (const [text, nanos] of readable) {
    test(text, () => assert.equal(toNanos(parseEpoch(text)), nanos));
  }
  for (const text of ['-1', '1e999', '99999999999999999999', '9999999999999999999', 'x', '']) {
    test(`rejects ${JSON.stringify(text)}`, () => assert.equal(parseEpoch(text), undefined));
  }
});

test('errors name the last year of an event', () => {
  const last = new Date(maxEventTimeMillis - 1).getUTCFullYear();
  assert.match(requestTimeForm, new RegExp(`from 1970 to ${last}:`));
});

test('writes a time as an Int64 of nanoseconds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: maxEventTimeMillis - 1 }),
      fc.integer({ min: 0, max: 999_999 }),
      (millis, nanos) => {
        const rows = new RowWriter();
        rows.time({ millis, nanos });
        const written = Buffer.from(rows.finish()).readBigInt64LE();
        assert.equal(written, BigInt(millis) * 1_000_000n + BigInt(nanos));
      },
    ),
  );
});
