/** Parsing of KILL QUERY, and killing of queries that run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineException } from './exceptions.ts';
import { createRunningQueries, parseKill } from './kill-query.ts';
import { until } from '../../test/harness/until.ts';

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

test('kills all queries by one statement at a time until they end', async () => {
  const statements: { marks: readonly string[]; end: () => void }[] = [];
  const queries = createRunningQueries((marks) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    statements.push({ marks, end: resolve });
    return promise;
  });
  const info = { queryId: '', sql: 'SELECT 1', database: '', settings: new Map() };
  const [first, second, waiting] = [queries.add(info), queries.add(info), queries.add(info)];
  first.start();
  second.start();
  const kills = [first, second, waiting].map((query) => query.kill());
  await kills[2];
  assert.throws(() => waiting.start(), /the query was killed/);
  assert.deepEqual(
    statements.map(({ marks }) => marks),
    [[first.mark]],
  );
  statements[0]!.end();
  await until(() => statements.length === 2, { what: 'a second statement' });
  assert.deepEqual(statements[1]!.marks, [first.mark, second.mark]);
  first.end();
  await kills[0];
  statements[1]!.end();
  await until(() => statements.length === 3, { what: 'a third statement' });
  assert.deepEqual(statements[2]!.marks, [second.mark]);
  second.end();
  await kills[1];
  statements[2]!.end();
  waiting.end();
  assert.deepEqual(queries.all(), []);
});
