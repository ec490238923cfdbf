/** Files with the rows of inserts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { createInsertFiles } from './insert-files.ts';
import { StoreInsertError } from './port.ts';
import { fromFile } from './sql/statement.ts';

test('writes small and large pieces in order, and removes the file', async () => {
  const folder = join(temporaryFolder(), 'inserts');
  const pieces = [1, 700_000, 3, 0, 900_000, 2_500_000].map((bytes, index) =>
    Buffer.alloc(bytes, index),
  );
  const file = await createInsertFiles(folder).write(pieces);
  assert.ok(readFileSync(file.path).equals(Buffer.concat(pieces)));
  await file.remove();
  assert.deepEqual(readdirSync(folder), []);
});

test('writes a file without rows', async () => {
  const file = await createInsertFiles(temporaryFolder()).write([]);
  assert.equal(readFileSync(file.path).length, 0);
});

test('removes files that an earlier process left, and keeps its own', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '1.rows'), 'left behind');
  const files = createInsertFiles(folder);
  const [one, other] = await Promise.all([
    files.write([Buffer.from('one')]),
    files.write([Buffer.from('other')]),
  ]);
  assert.equal(readFileSync(one.path, 'utf8'), 'one');
  assert.equal(readFileSync(other.path, 'utf8'), 'other');
});

test('reports a failed write as an insert that has not begun, and recovers', async () => {
  const folder = join(temporaryFolder(), 'inserts');
  const files = createInsertFiles(join(folder, 'of-engine'));
  writeFileSync(folder, 'in place of the folder');
  await assert.rejects(files.write([Buffer.from('rows')]), (error) => {
    assert.ok(error instanceof StoreInsertError);
    assert.equal(error.failure, 'unavailable');
    return true;
  });
  rmSync(folder);
  const { path } = await files.write([Buffer.from('rows')]);
  assert.equal(readFileSync(path, 'utf8'), 'rows');
});

test('leaves no file when the rows cannot be encoded', async () => {
  const folder = temporaryFolder();
  function* broken(): Generator<Uint8Array> {
    yield Buffer.from('rows');
    throw new Error('no more rows');
  }
  await assert.rejects(createInsertFiles(folder).write(broken()), StoreInsertError);
  assert.deepEqual(readdirSync(folder), []);
});

test('names the file of an INSERT in place of input()', () => {
  const insert = "INSERT INTO t (a) SELECT a\nFROM input('a UInt64')\nSETTINGS b = 1";
  const sql = `${insert}\nFORMAT RowBinary`;
  assert.equal(
    fromFile({ sql, params: {} }, "/it's\\here/1.rows"),
    insert.replace('input(', () => "file('/it\\'s\\\\here/1.rows', 'RowBinary', "),
  );
});
