/** Query parameters are exact bytes and apply to one query. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { openTestEngine, rawRequest } from './harness.ts';

const opened = await openTestEngine({ after });

/** Sends bytes as any client would: escaped for ClickHouse, then for the URL. */
function parameter(bytes: Buffer): string {
  const escaped = bytes.toString('latin1').replace(/[\\\t\n\r']/g, (char) => escapes[char] ?? '');
  const encoded = Buffer.from(escaped, 'latin1').toString('hex').replace(/../g, '%$&');
  return `param_s=${encoded}`;
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
};

async function selected(sql: string, bytes: Buffer): Promise<Buffer> {
  const path = `/?default_format=RawBLOB&${parameter(bytes)}`;
  const answer = await rawRequest(opened.engine.socketPath, { path }, sql);
  assert.equal(answer.status, 200, answer.body.toString());
  return answer.body;
}

const hostile: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['quotes', Buffer.from(`'"\`''""`)],
  ['backslashes', Buffer.from("\\ \\\\ \\' \\n \\x41 \\N \\0 \\")],
  ['NUL', Buffer.from('a\0b\0')],
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['invalid UTF-8', Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0xed, 0xa0, 0x80, 0xf0, 0x9f])],
  ['a placeholder', Buffer.from('{s:String} {x:Identifier}')],
  ['comments', Buffer.from('-- x\n/* y */ /* # // ')],
  ['a way out', Buffer.from("'; DROP TABLE t; --")],
  ['another way out', Buffer.from("\\'; SELECT 1 INTO OUTFILE '/tmp/x'")],
  ['Unicode quotes', Buffer.from('‘a’ “b” \u2028 \u{1f600} \ufeff')],
  ['a lone surrogate, as Node writes it', Buffer.from('\ud800 \udfff')],
  ['clauses', Buffer.from(' FORMAT TSV SETTINGS max_execution_time = 0')],
  ['length', Buffer.alloc(1_000_000, "'")],
];

for (const [name, bytes] of hostile) {
  test(`returns ${name} unchanged`, async () => {
    assert.deepEqual(await selected('SELECT {s:String}', bytes), bytes);
  });
}

test('returns any bytes unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (value) => {
      const bytes = Buffer.from(value);
      assert.deepEqual(await selected('SELECT {s:String}', bytes), bytes);
      const nested = await selected('SELECT {s:Nullable(String)}', bytes);
      assert.deepEqual(nested, bytes);
    }),
    { numRuns: 100 },
  );
});

test('returns any text unchanged in arrays, maps and tuples', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const hostileText = fc.oneof(
    text,
    fc.constantFrom("'", '\\', "\\'", 'NULL', '{s:String}', '\0', ''),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(hostileText, { maxLength: 5 }), hostileText, async (list, key) => {
      const answer = await opened.client.query({
        query: 'SELECT {a:Array(String)} AS a, {m:Map(String, Array(Nullable(String)))} AS m',
        query_params: { a: list, m: new Map([[key, [...list, null]]]) },
        format: 'JSONEachRow',
      });
      const [row] = await answer.json<{ a: string[]; m: Record<string, unknown> }>();
      assert.deepEqual(row?.a, list);
      assert.deepEqual(Object.entries(row?.m ?? {}), [[key, [...list, null]]]);
    }),
    { numRuns: 100 },
  );
});

test('does not use the parameters of an earlier query', async () => {
  const { socketPath } = opened.engine;
  const path = '/?param_s=secret';
  for (let round = 0; round < 6; round++) {
    await rawRequest(socketPath, { path }, 'SELECT {s:String}');
  }
  for (let round = 0; round < 6; round++) {
    const answer = await rawRequest(socketPath, { path: '/' }, 'SELECT {s:String}');
    assert.match(answer.body.toString(), /^Code: 456\./);
  }
});

test('refuses a parameter whose name is not an identifier', async () => {
  const path = `/?${encodeURIComponent('param_a, max_threads')}=1`;
  const answer = await rawRequest(opened.engine.socketPath, { path }, 'SELECT 1');
  assert.match(answer.body.toString(), /^Code: 62\./);
});

test('binds the parameters of KILL QUERY and of ALTER', async () => {
  const { client } = opened;
  const query_params = { id: "'none' OR 1", a: 1 };
  await client.command({ query: 'KILL QUERY WHERE query_id = {id:String} SYNC', query_params });
  await client.command({ query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a' });
  await client.command({ query: 'INSERT INTO t VALUES (1), (2)' });
  const query = 'ALTER TABLE t DELETE WHERE a = {a:UInt8} SETTINGS mutations_sync = 1';
  await client.command({ query, query_params });
  const answer = await client.query({ query: 'SELECT a FROM t', format: 'JSONCompactEachRow' });
  assert.deepEqual(await answer.json(), [[2]]);
});
