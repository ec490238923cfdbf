/** Checks messages against the reader and writer of the service's tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compressSync, uncompressSync } from 'snappy';
import {
  bytesField,
  doubleField,
  messagesOf,
  numberOf,
  varintField,
} from '../../../test/harness/proto-wire.ts';
import { decodeReadResponse, encodeReadRequest } from './remote-read.ts';

test('requests each series by all of its labels', () => {
  const labels = { __name__: 'up', job: 'ä"{}' };
  const packed = encodeReadRequest([
    { labels, fromMs: 1_700_000_000_000, untilMs: 1_700_000_060_000 },
  ]);
  const message = uncompressSync(Buffer.from(packed)) as Buffer;
  const [query] = messagesOf(message, 1);
  assert.ok(query);
  assert.equal(numberOf(query, 1), 1_700_000_000_000n);
  assert.equal(numberOf(query, 2), 1_700_000_060_000n);
  const matchers = messagesOf(query, 3).map((matcher) => ({
    type: numberOf(matcher, 1),
    name: messagesOf(matcher, 2)[0]?.toString(),
    value: messagesOf(matcher, 3)[0]?.toString(),
  }));
  assert.deepEqual(matchers, [
    { type: 0n, name: '__name__', value: 'up' },
    { type: 0n, name: 'job', value: 'ä"{}' },
  ]);
});

test('decodes series with their samples', () => {
  const label = (name: string, value: string) =>
    bytesField(
      1,
      Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, Buffer.from(value))]),
    );
  const sample = (timeMs: bigint, value: number) =>
    bytesField(2, Buffer.concat([doubleField(1, bitsOf(value)), varintField(2, timeMs)]));
  const series = bytesField(
    1,
    Buffer.concat([
      label('__name__', 'up'),
      label('__proto__', 'x'),
      sample(1000n, 1.5),
      sample(2000n, Number.NaN),
    ]),
  );
  const message = Buffer.concat([bytesField(1, series), bytesField(1, Buffer.alloc(0))]);
  const [first, second] = decodeReadResponse(compressSync(message));
  assert.deepEqual(second, []);
  assert.deepEqual(Object.entries(first?.[0]?.labels ?? {}), [
    ['__name__', 'up'],
    ['__proto__', 'x'],
  ]);
  assert.deepEqual(first?.[0]?.times, [1000, 2000]);
  assert.deepEqual(first?.[0]?.values, [1.5, Number.NaN]);
});

function bitsOf(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0]!;
}
