/** Errors for a server that is unsuitable as a store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClickHouseError } from '@clickhouse/client';
import { checkTables, checkVersion, explain } from './server-check.ts';

test('accepts versions with all required settings, and names older ones', () => {
  for (const version of ['26.5.1.1', '26.10.3.4', '27.1.1.1']) checkVersion(version);
  for (const version of ['26.4.9.9', '25.12.1.1', '18.16.1']) {
    assert.throws(() => checkVersion(version), /cannot use ClickHouse .+ 26\.5 or later/);
  }
});

const oneServer = { database: 'weir', cluster: undefined };
const cluster = { database: 'weir', cluster: 'main' };
const plain = ['logs', 'MergeTree PARTITION BY toYYYYMMDD(ReceivedAt)'] as const;
const local = ['logs_local', "ReplicatedMergeTree('/clickhouse', '{replica}')"] as const;
const over = ['logs', "Distributed('main', 'weir', 'logs_local', cityHash64(Batch))"] as const;

test('accepts tables of the configured form, and an empty database', () => {
  for (const found of [[], [plain]]) checkTables(oneServer, found);
  for (const found of [[], [local], [over, local]]) checkTables(cluster, found);
  // The server itself changes the engine name.
  checkTables(oneServer, [['logs', "SharedMergeTree('/clickhouse', '{replica}')"]]);
});

test('refuses a database of one server for a cluster', () => {
  for (const found of [
    [plain],
    [plain, local],
    [local, over, ['series', 'ReplacingMergeTree()']],
  ]) {
    assert.throws(
      () => checkTables(cluster, found as (readonly [string, string])[]),
      /cluster "main" for database "weir".*leave store\.cluster empty/,
    );
  }
});

test('refuses a database of a cluster for one server', () => {
  const says = /database "weir" as that of one server.*set store\.cluster to its name/;
  assert.throws(() => checkTables(oneServer, [local]), says);
  assert.throws(() => checkTables(oneServer, [over, local]), /its name \(main\)/);
});

const address = { url: 'https://weir:secret@db.example.com:8443', user: 'weir' };
const refusal = (code: string) =>
  new ClickHouseError({ message: 'Not enough privileges', code, type: 'SOME_TYPE' });
const cases: readonly (readonly [string, unknown, RegExp])[] = [
  ['a wrong password', refusal('516'), /cannot log in .+ as "weir": check store\.user/],
  ['a user that may only read', refusal('164'), /user "weir" may only read/],
  ['a missing privilege', refusal('497'), /lacks a privilege there: Not enough privileges/],
  ['no listener', { code: 'ECONNREFUSED' }, /\(ECONNREFUSED\): check store\.url/],
  ['an unknown authority', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }, /set store\.caFile/],
  ['another certificate', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, /cannot trust/],
  ['silence', new DOMException('', 'TimeoutError'), /does not answer/],
];
for (const [name, error, message] of cases) {
  test(`explains ${name} without secrets`, () => {
    assert.match(explain(error, address), message);
    assert.doesNotMatch(explain(error, address), /secret/);
  });
}
