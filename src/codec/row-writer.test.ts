/** Writes beyond the reserved bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowWriter } from './row-writer.ts';

test('throws when more was written than reserved', () => {
  const rows = new RowWriter();
  const source = Buffer.alloc(100_000, 'x');
  rows.raw(source, 0, source.length);
  assert.throws(() => rows.finish(), /cannot finish rows/);
});

test('throws when what was written has no length', () => {
  const rows = new RowWriter();
  rows.reserve(10);
  // As of a place beyond an array of positions.
  rows.raw(Buffer.from('abc'), 0, Number.NaN);
  assert.throws(() => rows.finish(), /cannot finish rows: NaN bytes/);
});

test('returns rows within the reserved bytes and starts the next batch empty', () => {
  const rows = new RowWriter();
  const source = Buffer.alloc(100_000, 'x');
  rows.reserve(source.length);
  rows.raw(source, 0, source.length);
  assert.deepEqual(Buffer.from(rows.finish()), source);
  rows.byte(1);
  assert.deepEqual([...rows.finish()], [1]);
});
