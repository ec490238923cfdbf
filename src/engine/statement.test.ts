/** Classifies statements and finds the data of an INSERT. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertFromFile, parseStatement, type Statement } from './statement.ts';

const statements: readonly (readonly [sql: string, statement: Statement])[] = [
  ['SELECT 1', { kind: 'read', sql: 'SELECT 1', format: 'TSV', canStream: true }],
  ['SELECT 1 ;', { kind: 'read', sql: 'SELECT 1 ', format: 'TSV', canStream: true }],
  [
    'select 1 \nformat JSONEachRow',
    { kind: 'read', sql: 'select 1 \nformat JSONEachRow', format: 'JSONEachRow', canStream: true },
  ],
  [
    'SELECT 1 FORMAT JSON SETTINGS max_threads = 1',
    {
      kind: 'read',
      sql: 'SELECT 1 FORMAT JSON SETTINGS max_threads = 1',
      format: 'JSON',
      canStream: false,
    },
  ],
  [
    'SELECT format FROM t',
    { kind: 'read', sql: 'SELECT format FROM t', format: 'TSV', canStream: true },
  ],
  [
    "SELECT 'FORMAT CSV'",
    { kind: 'read', sql: "SELECT 'FORMAT CSV'", format: 'TSV', canStream: true },
  ],
  [
    'SELECT 1 IN (SELECT 2)',
    { kind: 'read', sql: 'SELECT 1 IN (SELECT 2)', format: 'TSV', canStream: false },
  ],
  ['SHOW TABLES', { kind: 'read', sql: 'SHOW TABLES', format: 'TSV', canStream: false }],
  ['CREATE TABLE t (a Int8)', { kind: 'write', sql: 'CREATE TABLE t (a Int8)', isInsert: false }],
  [
    "INSERT INTO t VALUES (1), ('; it''s')",
    { kind: 'write', sql: "INSERT INTO t VALUES (1), ('; it''s')", isInsert: true },
  ],
  ['INSERT INTO t SELECT 1;', { kind: 'write', sql: 'INSERT INTO t SELECT 1', isInsert: true }],
];

for (const [sql, statement] of statements) {
  test(`parses ${JSON.stringify(sql)}`, () => {
    assert.deepEqual(parseStatement(sql, 'TSV'), statement);
  });
}

const inserts: readonly (readonly [sql: string, rewritten: string, inlineData: string])[] = [
  [
    'INSERT INTO t FORMAT JSONEachRow',
    "INSERT INTO t  FROM INFILE 'spool/1'  FORMAT JSONEachRow",
    '',
  ],
  [
    'INSERT INTO t (a, b) SETTINGS x = 1 FORMAT CSV\n1,2\n',
    "INSERT INTO t (a, b)  FROM INFILE 'spool/1' SETTINGS x = 1  FORMAT CSV",
    '1,2\n',
  ],
  [
    "INSERT INTO t SELECT a FROM input('a Int8') WHERE a > 1 SETTINGS x = 1 FORMAT RowBinary",
    "INSERT INTO t SELECT a FROM file('spool/1','RowBinary','a Int8') WHERE a > 1 SETTINGS x = 1 ",
    '',
  ],
];

for (const [sql, rewritten, inlineData] of inserts) {
  test(`finds the data of ${JSON.stringify(sql)}`, () => {
    const statement = parseStatement(sql, 'TSV');
    assert.ok(statement.kind === 'insertData');
    assert.equal(insertFromFile(statement.insert, 'spool/1'), rewritten);
    assert.equal(statement.inlineData, inlineData);
  });
}

const refusedStatements: readonly (readonly [sql: string, code: number])[] = [
  ['', 62],
  [' -- only a comment', 62],
  ['SELECT 1; SELECT 2', 62],
  ['SELECT 1;;', 62],
  ['INSERT INTO t SELECT 1; DROP TABLE t', 62],
  ['INSERT INTO t', 62],
  ["SELECT 1 INTO OUTFILE '/tmp/x'", 48],
  ['INSERT INTO t SELECT a FROM input(a) FORMAT RowBinary', 48],
  ["INSERT INTO t SELECT a FROM input('a Int8')", 48],
  ["SELECT 'a", 62],
];

for (const [sql, code] of refusedStatements) {
  test(`refuses ${JSON.stringify(sql)}`, () => {
    assert.throws(() => parseStatement(sql, 'TSV'), { name: 'EngineException', code });
  });
}
