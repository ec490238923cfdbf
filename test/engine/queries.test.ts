/** The ClickHouse HTTP protocol over a real engine, with the official client. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ClickHouseSettings } from '@clickhouse/client';
import { engineDefaults } from '../../src/engine/options.ts';
import { endless, openTestEngine, rawRequest, rowsOf, until } from './harness.ts';

// Limits of time are set where they are tested: on a busy machine a large read takes minutes.
const opened = await openTestEngine({ after }, { maxExecutionSeconds: 600 });

async function codeOf(query: Promise<unknown>): Promise<string> {
  const error = await query.then(
    () => assert.fail('the query succeeded'),
    (reason: unknown) => reason as { code: string; type: string },
  );
  return `${error.code} ${error.type}`;
}

test("answers the client's ping", async () => {
  const { client } = opened;
  assert.deepEqual(await client.ping(), { success: true });
  assert.deepEqual(await client.ping({ select: true }), { success: true });
});

test('uses UTC whatever the time zone of the machine', async () => {
  const rows = await rowsOf(
    opened.client,
    "SELECT timezone() AS zone, toDateTime(0) || '' AS zero",
  );
  assert.deepEqual(rows, [{ zone: 'UTC', zero: '1970-01-01 00:00:00' }]);
});

test('responses are complete in every format', async () => {
  const { client } = opened;
  for (const format of [
    'JSON',
    'JSONCompact',
    'JSONEachRow',
    'JSONCompactEachRowWithNames',
  ] as const) {
    const answer = await client.query({ query: 'SELECT number FROM numbers(200000)', format });
    const parsed = await answer.json<unknown>();
    const rows = Array.isArray(parsed) ? parsed : (parsed as { data: unknown[] }).data;
    const heads = format.endsWith('WithNames') ? 1 : 0;
    assert.equal(rows.length, 200_000 + heads, format);
  }
});

test('accepts parameters of all types', async () => {
  const { client } = opened;
  const uuid = '01234567-89ab-cdef-0123-456789abcdef';
  const answer = await client.query({
    query: `SELECT {i:Int64} AS i, {big:UInt256} AS big, {f:Float64} AS f, {b:Bool} AS b,
      {n:Nullable(String)} AS n, {d:DateTime64(3, 'UTC')} AS d, {day:Date} AS day, {u:UUID} AS u,
      {a:Array(Array(String))} AS a, {m:Map(String, UInt8)} AS m, {fixed:FixedString(2)} AS fixed,
      {low:LowCardinality(String)} AS low, toTypeName({i:Int64}) AS t
      FROM numbers(10) ORDER BY {column:Identifier} LIMIT {limit:UInt32}`,
    query_params: {
      i: '-9223372036854775808',
      big: 2n ** 256n - 1n,
      f: 1.5,
      b: true,
      n: null,
      d: new Date('2026-01-31T10:00:00.123Z'),
      day: '2026-01-31',
      u: uuid,
      a: [["it's"], [], ['\\', '\n']],
      m: new Map([["k'", 1]]),
      fixed: 'ab',
      low: 'low',
      column: 'number',
      limit: 1,
    },
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  });
  assert.deepEqual(await answer.json(), [
    {
      i: '-9223372036854775808',
      big: String(2n ** 256n - 1n),
      f: 1.5,
      b: true,
      n: null,
      d: '2026-01-31 10:00:00.123',
      day: '2026-01-31',
      u: uuid,
      a: [["it's"], [], ['\\', '\n']],
      m: { "k'": 1 },
      fixed: 'ab',
      low: 'low',
      t: 'Int64',
    },
  ]);
});

test('accepts many parameters in a multipart body', async () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `id-${at}-'x'`);
  const answer = await opened.client.query({
    query: 'SELECT length({ids:Array(String)}) AS n, {ids:Array(String)}[5000] AS last',
    query_params: { ids },
    format: 'JSONEachRow',
    use_multipart_params_auto: true,
  });
  assert.deepEqual(await answer.json(), [{ n: 5000, last: "id-4999-'x'" }]);
});

test('errors have the code and name of ClickHouse', async () => {
  const { client } = opened;
  const errors: [query: string, code: string][] = [
    ['SELECT nosuch', '47 UNKNOWN_IDENTIFIER'],
    ['SELECT * FROM nosuch', '60 UNKNOWN_TABLE'],
    ['SELECT {x:String}', '456 UNKNOWN_QUERY_PARAMETER'],
    ['SELECT 1; SELECT 2', '62 SYNTAX_ERROR'],
    ["SELECT 1 INTO OUTFILE '/tmp/never'", '48 NOT_IMPLEMENTED'],
  ];
  for (const [query, code] of errors) {
    assert.equal(await codeOf(client.exec({ query })), code, query);
  }
  const bad = { query: 'SELECT {x:UInt8}', query_params: { x: 'x' } };
  assert.equal(await codeOf(client.query(bad)), '457 BAD_QUERY_PARAMETER');
});

test('an error response has status, code and query id', async () => {
  const answer = await rawRequest(
    opened.engine.socketPath,
    { path: '/?query_id=abc' },
    'SELECT 1 +',
  );
  assert.equal(answer.status, 400);
  assert.equal(answer.headers['x-clickhouse-exception-code'], '62');
  assert.equal(answer.headers['x-clickhouse-query-id'], 'abc');
  assert.match(answer.body.toString(), /^Code: 62\. DB::Exception: .*\(SYNTAX_ERROR\)/s);
  const missing = await rawRequest(opened.engine.socketPath, { path: '/nosuch' });
  assert.equal(missing.status, 404);
});

test('settings apply to one query only, also after an invalid one', async () => {
  const { client } = opened;
  const query = "SELECT getSetting('max_threads') AS n";
  const [usual] = await rowsOf<{ n: number }>(client, query);
  const answer = await client.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { max_threads: 7 },
  });
  assert.deepEqual(await answer.json(), [{ n: 7 }]);
  const unknown = { nosuch_setting: 1 };
  const wrong: ClickHouseSettings = { max_threads: 9, ...unknown };
  assert.equal(
    await codeOf(client.query({ query, clickhouse_settings: wrong })),
    '115 UNKNOWN_SETTING',
  );
  for (let round = 0; round < 6; round++) assert.deepEqual(await rowsOf(client, query), [usual]);
});

test('reads cannot write, whatever settings they send', async () => {
  const { client } = opened;
  const write = {
    query: 'CREATE DATABASE never',
    http_headers: { 'X-Weir-Pool': 'read' },
  };
  assert.equal(await codeOf(client.command(write)), '164 READONLY');
  const asked = { ...write, clickhouse_settings: { readonly: '0' } };
  assert.equal(await codeOf(client.command(asked)), '164 READONLY');
});

test('streams 600,000 rows in bounded memory', async () => {
  const { client, engine } = opened;
  const resident = async () => {
    const { body } = await rawRequest(engine.socketPath, { path: '/heartbeat', method: 'GET' });
    return (JSON.parse(body.toString()) as { residentBytes: number }).residentBytes;
  };
  const before = await resident();
  const answer = await client.query({
    query: 'SELECT number, repeat(toString(number % 10), 400) AS text FROM numbers(600000)',
    format: 'JSONEachRow',
  });
  let rows = 0;
  let peak = 0;
  for await (const chunk of answer.stream()) {
    if (Math.floor(rows / 100_000) !== Math.floor((rows + chunk.length) / 100_000)) {
      peak = Math.max(peak, await resident());
    }
    rows += chunk.length;
  }
  assert.equal(rows, 600_000);
  assert.ok(peak - before < 200 * 2 ** 20, `grew by ${peak - before} bytes for 250 MB`);
});

test('limits the size of a response that is not streamed', async () => {
  const query = {
    query: 'SELECT number, repeat(toString(number), 80) AS text FROM numbers(1000000)',
    clickhouse_settings: { wait_end_of_query: 1 },
  } as const;
  assert.equal(await codeOf(opened.client.query(query)), '396 TOO_MANY_ROWS_OR_BYTES');
});

const failsLate = 'SELECT throwIf(number = 900000) AS x, number FROM numbers(1000000)';

test('a stream that fails midway ends with the error', async () => {
  const answer = await opened.client.query({ query: failsLate, format: 'JSONEachRow' });
  let rows = 0;
  const reading = (async () => {
    for await (const chunk of answer.stream()) rows += chunk.length;
  })();
  assert.equal(await codeOf(reading), '395 FUNCTION_THROW_IF_VALUE_IS_NON_ZERO');
  assert.ok(rows > 0 && rows <= 900_000);
});

test('truncates a failed stream for clients without support for exception blocks', async () => {
  const { socketPath } = opened.engine;
  await assert.rejects(rawRequest(socketPath, { path: '/' }, `${failsLate} FORMAT CSV`));
});

test('returns an error and no row with wait_end_of_query', async () => {
  const query = {
    query: failsLate,
    format: 'JSONEachRow',
    clickhouse_settings: { wait_end_of_query: 1 },
  } as const;
  assert.match(await codeOf(opened.client.query(query)), /^395/);
});

test('compresses responses on request', async () => {
  for (const codec of ['gzip', 'zstd', 'br']) {
    const answer = await rawRequest(
      opened.engine.socketPath,
      { path: '/?enable_http_compression=1', headers: { 'accept-encoding': codec } },
      "SELECT repeat('x', 100000)",
    );
    assert.equal(answer.headers['content-encoding'], codec);
    assert.ok(answer.body.length < 1_000);
  }
  const broken = await rawRequest(
    opened.engine.socketPath,
    { path: '/?enable_http_compression=1', headers: { 'accept-encoding': 'gzip' } },
    'SELECT nosuch',
  );
  assert.equal(broken.headers['content-encoding'], undefined);
  assert.match(broken.body.toString(), /^Code: 47/);
});

test('ends a query at the time limit', async () => {
  const query = { query: endless, clickhouse_settings: { max_execution_time: 1 } };
  assert.equal(await codeOf(opened.client.query(query)), '159 TIMEOUT_EXCEEDED');
});

test('kills the reads of clients that disconnect', async () => {
  const { client } = opened;
  for (const settings of [{}, { wait_end_of_query: 1 } as const]) {
    const leaver = new AbortController();
    // An account cannot get all members.
    const accounts = Array.from({ length: engineDefaults.readMembers }, (_, i) => `account ${i}`);
    const queries = accounts.map((account) => {
      return client.query({
        query: endless,
        format: 'JSONEachRow',
        abort_signal: leaver.signal,
        http_headers: { 'X-ClickHouse-Quota': account },
        clickhouse_settings: { ...settings, max_execution_time: 0 },
      });
    });
    for (const query of queries) query.catch(() => undefined);
    await until(async () => (await runningReads()) === queries.length);
    leaver.abort();
    // Both answers at once need every member.
    const answers = queries.map(() => rowsOf(client, 'SELECT 1 AS one'));
    for (const answer of answers) assert.deepEqual(await answer, [{ one: 1 }]);
  }
});

async function runningReads(): Promise<number> {
  const answer = await opened.client.query({
    query: `SELECT count() AS n FROM system.processes
      WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%' AND is_cancelled = 0`,
    format: 'JSONEachRow',
    http_headers: { 'X-Weir-Pool': 'housekeeping' },
  });
  const [row] = await answer.json<{ n: number }>();
  return row?.n ?? 0;
}
