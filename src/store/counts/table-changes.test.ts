/** When logs may have changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../connection.ts';
import { trackChanges } from './table-changes.ts';

function track() {
  const answers: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const change = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    answers.push({ resolve, reject });
    return promise;
  };
  const fake = { execute: change, insert: change } as unknown as Connection;
  const { connection, changes } = trackChanges(fake, 'weir');
  const insert = (table: string) =>
    connection.insert({ sql: `INSERT INTO weir.${table} (a) FORMAT RowBinary`, params: {} }, []);
  return { answers, connection, changes, insert };
}

test('an insert is unknown while it runs, and a change afterwards', async () => {
  const { answers, changes, insert } = track();
  const before = changes.stamp();
  assert.notEqual(before, undefined);
  assert.equal(changes.stamp(), before);
  const inserted = insert('logs');
  assert.equal(changes.stamp(), undefined);
  answers[0]!.resolve();
  await inserted;
  assert.notEqual(changes.stamp(), undefined);
  assert.notEqual(changes.stamp(), before);
});

test('an insert of metrics changes no logs', async () => {
  const { changes, insert } = track();
  const before = changes.stamp();
  void insert('samples');
  assert.equal(changes.stamp(), before);
});

test('what failed may still take effect', async () => {
  const { answers, changes, connection } = track();
  const dropped = connection.execute('housekeeping', { sql: 'ALTER', params: {} });
  answers[0]!.reject(new Error('no answer'));
  await assert.rejects(dropped, /no answer/);
  assert.equal(changes.stamp(), undefined);
});
