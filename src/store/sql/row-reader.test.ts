/** Values come out as they were written, and rows that are cut short are an error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowReader } from './row-reader.ts';

test('values are read one after the other', () => {
  const id = Buffer.alloc(16);
  id.writeBigUInt64LE(7n);
  id.writeBigUInt64LE(1n, 8);
  const time = Buffer.alloc(8);
  time.writeBigInt64LE(-9n);
  const text = Buffer.concat([Buffer.from([0x80, 0x01]), Buffer.alloc(128, 'x')]);
  const reader = new RowReader(Buffer.concat([id, time, text, Buffer.from([1]), time]));
  assert.equal(reader.uint128(), (1n << 64n) | 7n);
  assert.equal(reader.int64(), -9n);
  assert.equal(Buffer.from(reader.string()).toString(), 'x'.repeat(128));
  assert.equal(reader.hasMore(), true);
  assert.deepEqual([...new BigInt64Array(reader.wordArray())], [-9n]);
  assert.equal(reader.hasMore(), false);
});

test('rows that end short are refused', () => {
  const reads: ((reader: RowReader) => unknown)[] = [
    (reader) => reader.string(),
    (reader) => reader.wordArray(),
    (reader) => reader.int64(),
    (reader) => reader.uint128(),
  ];
  for (const read of reads) {
    assert.throws(() => read(new RowReader(Buffer.from([2, 1]))), RangeError);
  }
});
