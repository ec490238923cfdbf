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
  const read = async () => [];
  const fake = { execute: change, insert: change, read, readBytes: read } as unknown as Connection;
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

test('reads are ahead of an insert until it is acknowledged', async () => {
  const { answers, changes, connection, insert } = track();
  const read = (table = 'logs') =>
    connection.read({ sql: `SELECT a FROM weir.${table}`, params: {} }, { accountId: 'account' });
  await read();
  const first = insert('logs');
  const second = insert('logs');
  await read('samples');
  assert.equal(changes.wereReadAhead('account'), false);
  await read();
  assert.equal(changes.wereReadAhead('account'), true);
  assert.equal(changes.wereReadAhead('another'), false);
  const third = insert('logs');
  answers[0]!.resolve();
  await first;
  assert.equal(changes.wereReadAhead('account'), true);
  answers[1]!.resolve();
  await second;
  assert.equal(
    changes.wereReadAhead('account'),
    false,
    'no read has answered since the third began',
  );
  answers[2]!.resolve();
  await third;
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
