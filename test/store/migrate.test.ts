/** Migrations are applied once, are repeatable, and refuse a newer schema. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate } from '../../src/store/migrate.ts';
import { type SchemaTarget, toStatements } from '../../src/store/schema-target.ts';
import { type EngineStore, openEngineStore } from './engine-store.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const target: SchemaTarget = {
  placement: { database: 'weir', cluster: undefined },
  storagePolicy: undefined,
};
const run = (sql: string) => engine.store.connection.execute('housekeeping', { sql, params: {} });

test('a second start applies nothing', async () => {
  assert.deepEqual(await migrate(engine.store.connection, target, 'alone'), []);
});

test('the next start repairs a crash between tables and record', async () => {
  await run('TRUNCATE TABLE weir.schema_migrations');
  assert.deepEqual(await migrate(engine.store.connection, target, 'alone'), [1, 2, 3, 4]);
});

const durableSettings = [
  'fsync_after_insert',
  'fsync_part_directory',
  'min_rows_to_fsync_after_merge',
  'min_compressed_bytes_to_fsync_after_merge',
];

async function assertDurable(): Promise<void> {
  const rows = await engine.store.connection.query<[string, string]>('housekeeping', {
    sql: "SELECT name, create_table_query FROM system.tables WHERE database = 'weir'",
    params: {},
  });
  assert.equal(rows.length, 7);
  for (const [name, query] of rows) {
    for (const setting of durableSettings) assert.match(query, RegExp(`${setting} = 1`), name);
  }
}

test('parts are synced before an insert is answered and before a merge replaces its sources', () =>
  assertDurable());

test('a start sets the sync settings of a table that lacks them', async () => {
  await run('ALTER TABLE weir.logs RESET SETTING min_rows_to_fsync_after_merge');
  await run('ALTER TABLE weir.samples MODIFY SETTING fsync_after_insert = 0');
  await (await engine.reopen({})).close();
  await assertDurable();
});

test('refuses a newer schema', async () => {
  await run("INSERT INTO weir.schema_migrations (version, name) VALUES (999, 'future')");
  await assert.rejects(engine.reopen({}), /schema is version 999/);
});

test('the same migration serves a cluster', () => {
  const cluster = {
    placement: { database: 'weir', cluster: 'main' },
    storagePolicy: 'hot_and_cold',
  };
  const text =
    '-- note\nCREATE TABLE {{table t}}{{onCluster}} (i UInt8)\n' +
    'ENGINE = {{replacingMergeTree t i}} ORDER BY i SETTINGS{{storagePolicy}} a = 1;\nSELECT 1;\n';
  assert.deepEqual(toStatements(text, cluster), [
    "CREATE TABLE weir.t_local ON CLUSTER 'main' (i UInt8)\n" +
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/t', " +
      "'{replica}', i) ORDER BY i SETTINGS storage_policy = 'hot_and_cold', a = 1",
    'SELECT 1',
  ]);
  assert.throws(() => toStatements('{{nothing}};', target), /\{\{nothing\}\}/);
});
