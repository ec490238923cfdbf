/** Rows beyond the reserved bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowWriter } from './row-writer.ts';

test('refuses to hand out rows that were written beyond what was reserved', () => {
  const rows = new RowWriter();
  const source = Buffer.alloc(100_000, 'x');
  rows.raw(source, 0, source.length);
  assert.throws(() => rows.finish(), /cannot finish rows/);
});

test('hands out what was reserved for, and starts anew', () => {
  const rows = new RowWriter();
  const source = Buffer.alloc(100_000, 'x');
  rows.reserve(source.length);
  rows.raw(source, 0, source.length);
  assert.deepEqual(Buffer.from(rows.finish()), source);
  rows.byte(1);
  assert.deepEqual([...rows.finish()], [1]);
});
