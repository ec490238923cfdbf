/** Which pieces are kept, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowWriter } from '../../codec/row-writer.ts';
import type { CountStep, LogPartRow } from '../sql/part-counts.ts';
import type { Statement } from '../sql/statement.ts';
import { createKeptRows, type Gap } from './kept-rows.ts';

const part = '20260301_1_1_0';
const key = { accountId: 'account', fields: [] };
const placement = { database: 'weir', cluster: undefined };
const minute = Date.parse('2026-03-01T12:00:00Z');

/** A store whose part has these times, of which each statement reads those of its steps. */
function keepRows(times: readonly number[], maxSize: number) {
  const statements: Statement[] = [];
  const connection = {
    read: () => Promise.reject(new Error('too many rows')),
    readBytes(sql: Statement) {
      statements.push(sql);
      const { step, ticks } = asked!;
      const found = times.filter((time) => ticks.includes(Math.floor(time / step) * step));
      return Promise.resolve(found.length === 0 ? Buffer.alloc(0) : encode(found));
    },
  };
  let asked: { step: CountStep; ticks: readonly number[] } | undefined;
  const kept = createKeptRows(connection, placement, maxSize);
  const limits = { maxSeconds: 1, maxMemoryBytes: 1, maxRowsRead: 1, maxRowsReturned: 1 };
  return {
    kept,
    statements,
    async rowsOf(step: CountStep, ticks: readonly number[]): Promise<number> {
      asked = { step, ticks };
      const gap: Gap = { step, pieces: ticks.map((tick) => ({ part, tick })), rows: 1 };
      const filled = await kept.fill(gap, {
        key,
        context: { accountId: 'account' },
        compile: () => ({ sql: '', params: {} }),
        time: { left: () => limits },
      });
      kept.keep(key, [filled]);
      return filled.pieces.reduce((sum, { rows }) => sum + rows.ticks.length, 0);
    },
  };
}

function encode(times: readonly number[]): Buffer {
  const rows = new RowWriter();
  rows.reserve(1000);
  rows.text(part);
  rows.text('stream');
  rows.varint(0);
  rows.varint(times.length);
  const words = Buffer.alloc(8 * times.length);
  for (const [i, time] of times.entries()) words.writeDoubleLE(time, 8 * i);
  rows.raw(words, 0, words.length);
  return rows.finish();
}

test('steps of different lengths that begin together are different pieces', async () => {
  const { rowsOf, statements } = keepRows([minute + 5_000, minute + 15_000, minute + 59_000], 1e6);
  assert.equal(await rowsOf(10_000, [minute]), 1);
  assert.equal(await rowsOf(60_000, [minute]), 3);
  assert.equal(await rowsOf(10_000, [minute]), 1);
  assert.equal(statements.length, 2);
});

test('steps without rows take memory too', async () => {
  const { rowsOf, statements } = keepRows([], 1_000);
  for (let i = 0; i < 20; i++) await rowsOf(10_000, [minute + i * 10_000]);
  await rowsOf(10_000, [minute]);
  assert.equal(statements.length, 21);
});

test('a statement returns few bytes, however wrong the estimate of its rows', async () => {
  const { rowsOf, statements } = keepRows([minute], 1e6);
  await rowsOf(10_000, [minute]);
  assert.match(statements[0]!.sql, /max_result_bytes = 2400000,/);
});

test('parts that are gone are forgotten', async () => {
  const { kept, rowsOf, statements } = keepRows([minute], 1e6);
  kept.follow([[part, '1'] as unknown as LogPartRow]);
  await rowsOf(10_000, [minute]);
  kept.follow([]);
  await rowsOf(10_000, [minute]);
  assert.equal(statements.length, 2);
});
