/** INSERTs are atomic. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { countOf, openTestEngine, rawRequest, rowsOf, until } from './harness.ts';

const maxInsertBytes = 10_000_000;
const { client, engine, dataDir } = await openTestEngine({ after }, { maxInsertBytes });
const socketPath = engine.socketPath;

let tables = 0;

async function createTable(): Promise<string> {
  const table = `t${++tables}`;
  const columns = "a UInt64, s String DEFAULT 'none'";
  await client.command({
    query: `CREATE TABLE ${table} (${columns}) ENGINE = MergeTree ORDER BY a`,
  });
  return table;
}

function spooledFiles(): string[] {
  const runs = readdirSync(dataDir).filter((name) => name.startsWith('run-'));
  return runs.flatMap((run) => readdirSync(join(dataDir, run, 'spool')));
}

/** RowBinary of `(UInt64, String)`; strings up to 127 bytes. */
function binaryRow(number: number, text: string): Buffer {
  const head = Buffer.alloc(9);
  head.writeBigUInt64LE(BigInt(number));
  head.writeUInt8(Buffer.byteLength(text), 8);
  return Buffer.concat([head, Buffer.from(text)]);
}

async function execInsert(query: string, chunks: Iterable<Buffer>): Promise<void> {
  const values = Readable.from(chunks, { objectMode: false });
  const { stream } = await client.exec({ query, values });
  await stream.resume().toArray();
}

test('inserts rows in JSON, with defaults for missing columns', async () => {
  const table = await createTable();
  await client.insert({ table, values: [{ a: 1, s: "it's" }, { a: 2 }], format: 'JSONEachRow' });
  const rows = await rowsOf(client, `SELECT * FROM ${table} ORDER BY a`);
  assert.deepEqual(rows, [
    { a: 1, s: "it's" },
    { a: 2, s: 'none' },
  ]);
});

test('transforms a streamed binary body with input()', async () => {
  const table = await createTable();
  function* chunks() {
    for (let number = 0; number < 100_000; number++) yield binaryRow(number, `row ${number}`);
  }
  await execInsert(
    `INSERT INTO ${table} (a, s) SELECT n * 2, upper(text) FROM input('n UInt64, text String')
     WHERE n % 2 = 0 SETTINGS max_threads = 1 FORMAT RowBinary`,
    chunks(),
  );
  const rows = await rowsOf(client, `SELECT count() AS n, max(s) AS s, sum(a) AS a FROM ${table}`);
  assert.deepEqual(rows, [{ n: 50_000, s: 'ROW 99998', a: 4_999_900_000 }]);
});

test('one outer row becomes its inner rows', async () => {
  const table = await createTable();
  const inner = [binaryRow(7, 'x'), binaryRow(8, 'y'), binaryRow(9, "it's")];
  await execInsert(
    `INSERT INTO ${table} SELECT r.n + row, concat(outer, r.s)
     FROM input('outer String, rows Array(Tuple(n UInt64, s String))')
     ARRAY JOIN rows AS r, arrayEnumerate(rows) AS row FORMAT RowBinary`,
    [Buffer.from('\x01A'), Buffer.from([inner.length]), ...inner],
  );
  const rows = await rowsOf(client, `SELECT * FROM ${table} ORDER BY a`);
  assert.deepEqual(rows, [
    { a: 8, s: 'Ax' },
    { a: 10, s: 'Ay' },
    { a: 12, s: "Ait's" },
  ]);
});

test('reads data from the text, the body or neither', async () => {
  const table = await createTable();
  await client.command({ query: `INSERT INTO ${table} VALUES (1, 'a;b'), (2, 'c')` });
  await client.command({ query: `INSERT INTO ${table} FORMAT JSONEachRow {"a":3}` });
  await rawRequest(socketPath, { path: `/?query=INSERT+INTO+${table}+VALUES` }, "(4, 'd')");
  await client.command({ query: `INSERT INTO ${table} SELECT 5, 'e'` });
  await execInsert(`INSERT INTO ${table} FORMAT RowBinary`, []);
  const rows = await rowsOf<{ a: number }>(client, `SELECT a FROM ${table} ORDER BY a`);
  assert.deepEqual(
    rows.map((row) => row.a),
    [1, 2, 3, 4, 5],
  );
});

test('inflates a compressed body', async () => {
  const table = await createTable();
  const path = `/?query=INSERT+INTO+${table}+FORMAT+JSONEachRow`;
  const headers = { 'content-encoding': 'gzip' };
  const answer = await rawRequest(socketPath, { path, headers }, gzipSync('{"a":1}\n{"a":2}\n'));
  assert.equal(answer.status, 200);
  const cut = gzipSync('{"a":1}\n{"a":2}\n').subarray(0, 20);
  assert.equal((await rawRequest(socketPath, { path, headers }, cut)).status, 500);
  const unknown = { 'content-encoding': 'x-nosuch' };
  assert.equal((await rawRequest(socketPath, { path, headers: unknown }, cut)).status, 500);
  assert.equal(await countOf(client, table), 2);
});

test('stores nothing of invalid data', async () => {
  const table = await createTable();
  const values = Readable.from([{ a: 1 }, { a: 'no number' }]);
  await assert.rejects(client.insert({ table, values, format: 'JSONEachRow' }), { code: '27' });
  const short = binaryRow(1, 'complete').subarray(0, 12);
  await assert.rejects(execInsert(`INSERT INTO ${table} FORMAT RowBinary`, [short]), {
    type: 'CANNOT_READ_ALL_DATA',
  });
  await assert.rejects(execInsert('INSERT INTO nosuch FORMAT RowBinary', [short]), { code: '60' });
  assert.equal(await countOf(client, table), 0);
  assert.deepEqual(spooledFiles(), []);
});

test('refuses data over the limit', async () => {
  const table = await createTable();
  const path = `/?query=INSERT+INTO+${table}+FORMAT+JSONEachRow`;
  const body = Buffer.from('{"a":1}\n'.repeat(maxInsertBytes / 8 + 100_000));
  const headers = { 'content-encoding': 'gzip' };
  for (const answer of [
    await rawRequest(socketPath, { path }, body),
    await rawRequest(socketPath, { path, headers }, gzipSync(body)),
  ]) {
    assert.equal(answer.status, 413);
    assert.match(answer.body.toString(), /^Code: 307.*maxInsertBytes/);
  }
  assert.equal(await countOf(client, table), 0);
  assert.deepEqual(spooledFiles(), []);
});

test('inserts nothing for a client that disconnects', async () => {
  const table = await createTable();
  const path = `/?query=INSERT+INTO+${table}+FORMAT+JSONEachRow`;
  const sender = request({ socketPath, path, method: 'POST', agent: false });
  sender.on('error', () => undefined);
  sender.write('{"a":1}\n'.repeat(100_000));
  await until(() => spooledFiles().length === 1);
  sender.destroy();
  await until(() => spooledFiles().length === 0);
  await client.insert({ table, values: [{ a: 2 }], format: 'JSONEachRow' });
  assert.deepEqual(await rowsOf(client, `SELECT a FROM ${table}`), [{ a: 2 }]);
});
