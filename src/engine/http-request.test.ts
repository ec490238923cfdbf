/** Parses requests of the ClickHouse HTTP interface, byte for byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMultipart, parseQueryString, toEngineRequest } from './http-request.ts';

function textFields(fields: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  return Object.fromEntries(
    [...fields].map(([name, value]) => [name, Buffer.from(value).toString('latin1')]),
  );
}

test('decodes a query string to bytes', () => {
  const fields = parseQueryString('query=SELECT+1%2B1&param_s=%FF%00%27&empty=&alone&bad=%zz%4');
  assert.deepEqual(textFields(fields), {
    query: 'SELECT 1+1',
    param_s: '\xff\0\x27',
    empty: '',
    alone: '',
    bad: '%zz%4',
  });
});

test('separates parameters, settings and protocol fields', () => {
  const fields = parseQueryString(
    'query=Q&param_a=1&max_threads=2&query_id=I&database=d&wait_end_of_query=1&session_id=s',
  );
  const request = toEngineRequest(fields, { 'x-weir-pool': 'insert' });
  assert.deepEqual([...request.settings], [['max_threads', '2']]);
  assert.deepEqual(textFields(request.parameters), { param_a: '1' });
  assert.equal(request.sql, 'Q');
  assert.equal(request.queryId, 'I');
  assert.equal(request.database, 'd');
  assert.equal(request.pool, 'insert');
  assert.equal(request.waitsForEnd, true);
});

test('uses defaults for absent fields', () => {
  const request = toEngineRequest(new Map(), {});
  assert.equal(request.sql, undefined);
  assert.equal(request.pool, undefined);
  assert.equal(request.database, 'default');
  assert.equal(request.defaultFormat, 'TabSeparated');
  assert.equal(request.waitsForEnd, false);
});

test('refuses an unknown pool and an invalid setting name', () => {
  assert.throws(() => toEngineRequest(new Map(), { 'x-weir-pool': 'x' }), { code: 48 });
  const fields = parseQueryString('a%20b=1');
  assert.throws(() => toEngineRequest(fields, {}), { code: 62 });
});

test('parses a multipart body, with line feeds in its parts', () => {
  const body = [
    '--b',
    'Content-Disposition: form-data; name="query"',
    '',
    'SELECT 1\r\n--b2',
    '--b',
    'Content-Disposition: form-data; name="param_a"',
    '',
    '',
    '--b--',
    '',
  ].join('\r\n');
  const fields = parseMultipart(Buffer.from(body), 'multipart/form-data; boundary=b');
  assert.deepEqual(textFields(fields), { query: 'SELECT 1\r\n--b2', param_a: '' });
});

test('refuses a multipart body without a boundary or names', () => {
  assert.throws(() => parseMultipart(Buffer.from(''), 'multipart/form-data'), { code: 62 });
  const nameless = Buffer.from('--b\r\n\r\nx\r\n--b--\r\n');
  assert.throws(() => parseMultipart(nameless, 'multipart/form-data; boundary=b'), { code: 62 });
});
