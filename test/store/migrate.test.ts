/** Migrations are applied once, are repeatable, and refuse a newer schema. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type SchemaTarget, toStatements } from '../../src/store/schema-target.ts';
import { createSearchIndexes } from '../../src/store/search-indexes.ts';
import { type EngineStore, onCluster, openEngineStore } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { stampedBatch } from './log-row-fixture.ts';
import { metricBatch } from './metric-fixture.ts';

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

/** As at the next start. @returns the versions applied, and the inserts that recorded them */
async function migrateAgain() {
  const { connection } = engine.store;
  let inserts = 0;
  const watched: typeof connection = {
    ...connection,
    async execute(pool, change) {
      await connection.execute(pool, change);
      if (change.sql.startsWith('INSERT')) inserts += 1;
    },
  };
  return { applied: await migrate(watched, target, 'alone'), inserts };
}

const recorded = () =>
  engine.store.connection.query<[number]>('housekeeping', {
    sql: "SELECT version FROM weir.schema_migrations WHERE name != '' ORDER BY version",
    params: {},
  });

test('the next start repairs a crash between tables and record', async () => {
  await run('TRUNCATE TABLE weir.schema_migrations');
  const applied = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
  assert.deepEqual(await migrateAgain(), { applied, inserts: 1 });
  assert.deepEqual((await recorded()).flat(), applied);
});

test('an upgrade records each version once it is applied', async () => {
  await run('TRUNCATE TABLE weir.schema_migrations');
  await run("INSERT INTO weir.schema_migrations (version, name) SELECT 10, 'logs'");
  assert.deepEqual(await migrateAgain(), { applied: [11, 12, 13], inserts: 3 });
  assert.deepEqual((await recorded()).flat(), [10, 11, 12, 13]);
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

const readSchema = (name: string) =>
  readFile(new URL(`../../src/store/schema/${name}`, import.meta.url), 'utf8');

const migrateTo = async (name: string) => {
  for (const sql of toStatements(await readSchema(name), target)) await run(sql);
};

/** The logs table as version 4 of the schema created it and later ones altered it. */
async function makeEarlierTable(): Promise<void> {
  const labels = toStatements('{{searchIndexes}};', target)[0]!.match(
    /(?<=labels_fine ).*(?= TYPE)/,
  );
  await run('DROP TABLE weir.logs SYNC');
  const earlier = (await readSchema('001_logs.sql'))
    .replace(
      '{{searchIndexes}}',
      `INDEX labels ${labels![0]} TYPE bloom_filter(0.01) GRANULARITY 1,
       INDEX message_ngrams lower(Body) TYPE ngrambf_v1(4, 32768, 2, 0) GRANULARITY 1`,
    )
    .replace('{{granules}}', 'index_granularity = 8192')
    .replace('{{searchIndexNames}}', 'labels,message_ngrams');
  for (const sql of toStatements(earlier, target)) await run(sql);
  for (const name of ['006_logs.sql', '008_logs.sql', '010_logs.sql']) await migrateTo(name);
  await rm(join(engine.dataDir!, 'tables.json'));
}

const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };

async function insertLogs(store: ClickHouseStore, day: number, word: string): Promise<void> {
  const logs = Array.from({ length: 20_000 }, (_, i) => {
    const body = `${word}-${i} in the hay`;
    return { body, logAttributes: { word: body } };
  });
  const receivedAtNanos = BigInt(Date.UTC(2026, 4, day)) * 1_000_000n;
  await store.insert('logs/1', [stampedBatch(logs, { owner, receivedAtNanos })], 'all', localToken);
}

async function builtIndexes(): Promise<string[]> {
  const rows = await engine.store.connection.query<[string]>('housekeeping', {
    sql: `SELECT name FROM system.data_skipping_indices
          WHERE table = 'logs' AND data_compressed_bytes > 0 ORDER BY name`,
    params: {},
  });
  return rows.map(([name]) => name).filter((name) => /labels|message/.test(name));
}

async function countPhrase(phrase: string): Promise<string> {
  const rows = await engine.store.connection.query<[string]>('housekeeping', {
    sql: `SELECT toString(count()) FROM weir.logs WHERE lower(Body) LIKE '%${phrase}%'`,
    params: {},
  });
  return rows[0]![0];
}

test('filters of words of another size replace those of existing parts, and no search misses', {
  skip: onCluster,
}, async () => {
  await run('TRUNCATE TABLE weir.logs');
  await run('ALTER TABLE weir.logs DROP INDEX message_words');
  await migrateTo('006_logs.sql');
  await insertLogs(engine.store, 3, 'word');
  await run('ALTER TABLE weir.logs MATERIALIZE INDEX message_tokens SETTINGS mutations_sync = 1');
  assert.deepEqual(await builtIndexes(), ['message_tokens']);
  const phrase = '-19990 in the';

  // As after a stop while housekeeping builds indexes.
  await insertLogs(engine.store, 3, 'other');
  await run('SYSTEM STOP MERGES weir.logs');
  await run('ALTER TABLE weir.logs MATERIALIZE INDEX message_tokens SETTINGS mutations_sync = 0');
  await migrateTo('008_logs.sql');
  await run('SYSTEM START MERGES weir.logs');
  assert.equal(await countPhrase(phrase), '2');
  await createSearchIndexes(engine.store).build();
  assert.equal(await countPhrase(phrase), '2');
  const built = await builtIndexes();
  assert.ok(built.includes('message_words') && !built.includes('message_tokens'), built.join());
});

test('parts of both layouts of labels are read, indexed and merged alike', {
  skip: onCluster,
}, async () => {
  await run('TRUNCATE TABLE weir.logs');
  await run(
    'ALTER TABLE weir.logs RESET SETTING propagate_types_serialization_versions_to_nested_types',
  );
  await insertLogs(engine.store, 4, 'before');
  await migrateTo('010_logs.sql');
  await insertLogs(engine.store, 4, 'after');
  assert.deepEqual(await labelStreams(), ['size0,keys,values', 'size0,keys,values,values.size']);
  const labels = await hashOfLabels();

  await createSearchIndexes(engine.store).build();
  assert.equal(await hashOfLabels(), labels);
  await run('OPTIMIZE TABLE weir.logs FINAL');
  assert.deepEqual(await labelStreams(), ['size0,keys,values']);
  assert.equal(await hashOfLabels(), labels);
});

/** Of each kind of part. */
async function labelStreams(): Promise<string[]> {
  const rows = await engine.store.connection.query<[string]>('housekeeping', {
    sql: `SELECT DISTINCT arrayStringConcat(subcolumns.names, ',') FROM system.parts_columns
          WHERE table = 'logs' AND column = 'LogAttributes' AND active ORDER BY 1`,
    params: {},
  });
  return rows.map(([names]) => names);
}

/** Of messages, ties and labels, which it finds by their keys too. */
async function hashOfLabels(): Promise<string> {
  const rows = await engine.store.connection.query<[string, string]>('housekeeping', {
    sql: `SELECT toString(sum(cityHash64(Body, Tie, LogAttributes))),
            toString(countIf(LogAttributes['word'] = Body))
          FROM weir.logs`,
    params: {},
  });
  assert.equal(rows[0]![1], '40000');
  return rows[0]![0];
}

test('samples of both layouts are read and merged alike', { skip: onCluster }, async () => {
  await run(`ALTER TABLE weir.samples
    MODIFY COLUMN AccountId LowCardinality(String) CODEC(LZ4),
    MODIFY COLUMN StreamId LowCardinality(String) CODEC(LZ4),
    MODIFY COLUMN UnixMilli Int64 CODEC(Delta(8), T64, ZSTD(1)),
    MODIFY COLUMN ReceivedAt DateTime('UTC') CODEC(Delta(4), ZSTD(1))`);
  await insertSamples(0);
  await migrateTo('011_samples.sql');
  await insertSamples(10_000);
  const expected = await readSamples();
  assert.equal(expected.length, 1);
  assert.deepEqual(expected[0]!.slice(0, 2), ['20000', '299985000']);

  await run('OPTIMIZE TABLE weir.samples FINAL');
  assert.deepEqual(await readSamples(), expected);
});

test('logs in blocks of both sizes are read and merged alike', { skip: onCluster }, async () => {
  await run('ALTER TABLE weir.logs RESET SETTING min_compress_block_size');
  await insertLogs(engine.store, 5, 'before');
  await migrateTo('012_logs.sql');
  await insertLogs(engine.store, 5, 'after');
  const hash = () =>
    engine.store.connection.query<[string, string]>('housekeeping', {
      sql: `SELECT toString(count()), toString(sum(cityHash64(*))) FROM weir.logs
            WHERE Body LIKE 'before-%' OR Body LIKE 'after-%'`,
      params: {},
    });
  const expected = await hash();
  assert.ok(Number(expected[0]![0]) >= 40_000);

  await run('OPTIMIZE TABLE weir.logs FINAL');
  assert.deepEqual(await hash(), expected);
  const [row] = await engine.store.connection.query<[string]>('housekeeping', {
    sql: "SELECT engine_full FROM system.tables WHERE database = 'weir' AND name = 'logs'",
    params: {},
  });
  assert.match(row![0], /min_compress_block_size = 16384/);
});

test('times of both encodings are read and merged alike', { skip: onCluster }, async () => {
  await run('TRUNCATE TABLE weir.logs');
  await run(
    "ALTER TABLE weir.logs MODIFY COLUMN Timestamp DateTime64(9, 'UTC') CODEC(GCD, T64, LZ4)",
  );
  await insertLogs(engine.store, 4, 'before');
  await migrateTo('013_logs.sql');
  await insertLogs(engine.store, 4, 'after');
  const read = () =>
    engine.store.connection.query<[string, string]>('housekeeping', {
      sql: `SELECT toString(count()), toString(sum(cityHash64(Timestamp, Body))) FROM weir.logs`,
      params: {},
    });
  const expected = await read();
  assert.equal(expected[0]![0], '40000');
  await run('OPTIMIZE TABLE weir.logs FINAL');
  assert.deepEqual(await read(), expected);
  const [row] = await engine.store.connection.query<[string]>('housekeeping', {
    sql: `SELECT compression_codec FROM system.columns
          WHERE database = 'weir' AND table = 'logs' AND name = 'Timestamp'`,
    params: {},
  });
  assert.equal(row![0], 'CODEC(GCD, Delta(8), T64, LZ4)');
});

async function insertSamples(from: number): Promise<void> {
  const samples = Array.from({ length: 10_000 }, (_, i) => {
    const timeMs = 1_780_000_000_000 + (from + i) * 15_000;
    return [timeMs, 1.5 * (from + i)] as const;
  });
  const receivedAtNanos = BigInt(Date.UTC(2026, 4, 5)) * 1_000_000n;
  const batch = metricBatch([{ name: 'm', samples }], { owner, receivedAtNanos });
  await engine.store.insert('metrics/1', [batch], 'all', localToken);
}

/** Number, sum of values, and hash of all columns. */
const readSamples = () =>
  engine.store.connection.query<[string, string, string]>('housekeeping', {
    sql: `SELECT toString(count()), toString(sum(Value)), toString(sum(cityHash64(*)))
          FROM weir.samples FINAL`,
    params: {},
  });

test('a table of an earlier version gets small granules, and keeps its rows and indexes', {
  skip: onCluster,
}, async () => {
  await makeEarlierTable();
  await insertLogs(engine.store, 1, 'earlier');
  await createSearchIndexes(engine.store).build();
  assert.deepEqual(await builtIndexes(), ['labels', 'message_ngrams']);

  // As after a crash in the middle of the change.
  await run('DETACH TABLE weir.logs SYNC');
  await engine.restart();
  const store = await engine.reopen({ storeFolder: join(engine.dataDir!, 'store') });
  await insertLogs(store, 2, 'later');
  await createSearchIndexes(store).build();
  const granules = await engine.store.connection.query<[string, number]>('housekeeping', {
    sql: `SELECT partition_id, toUInt32(max(rows / (marks - 1))) FROM system.parts
          WHERE table = 'logs' AND active GROUP BY partition_id ORDER BY partition_id`,
    params: {},
  });
  assert.ok(granules[0]![1] > 4_000 && granules[1]![1] <= 2_048, JSON.stringify(granules));
  assert.deepEqual((await builtIndexes()).length, 7);
  for (const word of ['earlier', 'later']) {
    const sql = `SELECT toString(count()) FROM weir.logs WHERE lower(Body) LIKE '%${word}-1999%'`;
    const rows = await store.connection.query('housekeeping', { sql, params: {} });
    assert.deepEqual(rows, [['11']], word);
  }
  await store.close();
  await (await engine.reopen({ storeFolder: join(engine.dataDir!, 'store') })).close();
});

test('the statements of the documentation give a table on a server small granules', {
  skip: onCluster,
}, async () => {
  const engineOf = () =>
    engine.store.connection.query<[string]>('housekeeping', {
      sql: "SELECT engine_full FROM system.tables WHERE database = 'weir' AND name = 'logs'",
      params: {},
    });
  await run('TRUNCATE TABLE weir.logs SYNC');
  const ours = await engineOf();
  await makeEarlierTable();
  await insertLogs(engine.store, 1, 'earlier');
  const asServer = { url: 'http://localhost', restart: undefined, inventoryFile: undefined };
  await (await engine.reopen(asServer)).close();

  const page = new URL('../../docs/scaled-out/clickhouse.md', import.meta.url);
  const [, statements = ''] = /```sql\n(CREATE TABLE weir\.logs_small[^`]+)```/.exec(
    await readFile(page, 'utf8'),
  )!;
  for (const sql of statements.split(/;$/m).filter((text) => text.trim() !== '')) await run(sql);

  const store = await engine.reopen(asServer);
  assert.deepEqual(await engineOf(), ours);
  await insertLogs(store, 2, 'later');
  await createSearchIndexes(store).build();
  for (const word of ['earlier', 'later']) {
    const sql = `SELECT toString(count()) FROM weir.logs WHERE lower(Body) LIKE '%${word}-1999%'`;
    const rows = await store.connection.query('housekeeping', { sql, params: {} });
    assert.deepEqual(rows, [['11']], word);
  }
  await store.close();
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
