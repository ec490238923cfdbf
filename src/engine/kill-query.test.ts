/** Parsing of KILL QUERY. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineException } from './exceptions.ts';
import { parseKill } from './kill-query.ts';

test('parses condition, mode and format', () => {
  assert.deepEqual(parseKill("KILL QUERY WHERE query_id = 'a'"), {
    condition: "query_id = 'a'",
    mode: 'ASYNC',
    format: undefined,
  });
  const sql = "/* x */ kill query where startsWith(query_id, 'SYNC') sync format JSONEachRow;";
  assert.deepEqual(parseKill(sql), {
    condition: "startsWith(query_id, 'SYNC')",
    mode: 'SYNC',
    format: 'JSONEachRow',
  });
  assert.equal(parseKill('KILL QUERY WHERE 1 TEST')?.mode, 'TEST');
});

test('ignores other statements', () => {
  for (const sql of ['SELECT 1', 'KILL MUTATION WHERE 1', "SELECT 'KILL QUERY WHERE 1'"]) {
    assert.equal(parseKill(sql), undefined);
  }
});

test('requires a condition and refuses a cluster', () => {
  for (const sql of [
    'KILL QUERY',
    'KILL QUERY ON CLUSTER c WHERE 1',
    'KILL QUERY WHERE',
    'KILL QUERY WHERE SYNC',
  ]) {
    assert.throws(() => parseKill(sql), EngineException, sql);
  }
});
