/**
 * The store on a cluster: its tests of logs pass there, and statements without a server here at
 * least parse.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { type ClickHouseStore, openClickHouseStore } from '../../src/store/clickhouse.ts';
import { compileSyncFences, compileSyncLogs } from '../../src/store/sql/fences.ts';
import { compileDownsample } from '../../src/store/downsampling/statements.ts';
import {
  compileDeleteExpired,
  compileDropDay,
  compileIndexDay,
} from '../../src/store/sql/housekeeping.ts';
import { compileInsert } from '../../src/store/sql/insert-logs.ts';
import type { Statement } from '../../src/store/sql/statement.ts';
import { compileTierChanges } from '../../src/store/sql/table-settings.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { type ClusterEngine, clusterName, openClusterEngine } from '../store/cluster-store.ts';
import { stampedBatch } from '../store/log-row-fixture.ts';
import { storeOptions } from './store-server.ts';
import { testOnCluster } from './test-on-cluster.ts';

testOnCluster(['reads', 'arrivals', 'walk', 'insert', 'housekeeping']);

suite('statements', () => {
  let engine: ClusterEngine;
  let store: ClickHouseStore;
  before(async () => {
    engine = await openClusterEngine();
    const options = { ...storeOptions(0), url: engine.url, cluster: clusterName };
    store = await openClickHouseStore(options, createInstruments('silent'));
  });
  after(async () => {
    await store.close();
    await engine.close();
  });

  const placement = { database: 'weir', cluster: clusterName };
  const noon = BigInt(Date.parse('2026-04-01T12:00:00Z')) * 1_000_000n;
  const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };
  const newBatches = () =>
    Array.from({ length: 20 }, (_, i) =>
      stampedBatch([{ body: 'a' }, { body: 'b' }], {
        owner,
        receivedAtNanos: noon,
        id: { writer: 5n, sequence: BigInt(i) },
      }),
    );

  async function parse({ sql, params }: Statement): Promise<void> {
    await store.connection.query('housekeeping', { sql: `EXPLAIN AST ${sql}`, params });
  }

  test('rows of an insert go to both shards, a batch to one', async () => {
    const token = { shard: 'a', epoch: 1n };
    await store.insert('logs/1', newBatches(), 'all', token);
    const shards = await store.connection.query<[number, string, string]>('housekeeping', {
      sql: `SELECT shardNum(), toString(count()), toString(uniqExact(Batch)) FROM weir.logs
GROUP BY 1 ORDER BY 1`,
      params: {},
    });
    assert.deepEqual(
      shards.map(([number, rows, batches]) => [number, Number(rows) === 2 * Number(batches)]),
      [
        [1, true],
        [2, true],
      ],
    );
    const batches = shards.reduce((sum, [, , some]) => sum + Number(some), 0);
    assert.equal(batches, 20);
  });

  test('creates tables on every node, once', async () => {
    const made = engine.statements.filter((sql) => /^CREATE (OR REPLACE )?TABLE/.test(sql));
    assert.equal(made.length, 14);
    for (const sql of made) {
      assert.match(sql, /ON CLUSTER 'main'/);
      assert.match(sql, /ENGINE = (Distributed|Replicated)/);
      await parse({ sql, params: {} });
    }
    const count = engine.statements.length;
    const again = await openClickHouseStore(
      { ...storeOptions(0), url: engine.url, cluster: clusterName },
      createInstruments('silent'),
    );
    await again.close();
    assert.deepEqual(engine.statements.slice(count), []);
  });

  test('refuses to change a database between one server and a cluster', async () => {
    const openAs = (change: { readonly database: string; readonly cluster?: string }) =>
      openClickHouseStore(
        { ...storeOptions(0), url: engine.url, ...change },
        createInstruments('silent'),
      );
    const count = engine.statements.length;
    await assert.rejects(
      openAs({ database: 'weir' }),
      /cannot use database "weir" as that of one server.*set store\.cluster to its name \(main\)/,
    );
    assert.deepEqual(engine.statements.slice(count), []);
    await (await openAs({ database: 'alone' })).close();
    const countAlone = engine.statements.length;
    await assert.rejects(
      openAs({ database: 'alone', cluster: clusterName }),
      /cannot use cluster "main" for database "alone".*leave store\.cluster empty/,
    );
    assert.deepEqual(
      engine.statements.slice(countAlone),
      [],
      'a refused request must create nothing',
    );
    await (await openAs({ database: 'alone' })).close();
  });

  test('cluster-only statements parse', async () => {
    // Its fence kills the inserts of earlier holders of the shard.
    await store.insert('logs/1', newBatches(), 'all', { shard: 'b', epoch: 1n });
    const expiry = { accountId: 'a', streamId: 's', receivedFromNanos: noon };
    const cold = { volume: 'cold', afterDays: 7 };
    const pass = { shard: 'a', number: 1n, queryId: 'weir/a/1/0' };
    const target = { placement, insertQuorum: 'auto', pass };
    const insert = compileInsert(target, newBatches(), 'missing');
    const statements: Statement[] = [
      compileDropDay(placement, 'logs', '20260401'),
      compileIndexDay(placement, '20260401', 'small'),
      compileDeleteExpired(placement, 'samples', [expiry]),
      compileDownsample(
        placement,
        {
          table: 'histograms',
          day: '20260401',
          intervalMs: 300_000,
          streams: [
            { accountId: 'a', streamId: 's' },
            { accountId: 'a', streamId: 't' },
          ],
        },
        { index: 0, count: 2 },
      ),
      compileSyncFences(placement),
      compileSyncLogs(placement),
      ...compileTierChanges(placement, { storagePolicy: 'tiered', cold }, ['logs', 'default', '']),
      ...compileTierChanges(placement, { storagePolicy: undefined, cold: undefined }, [
        'logs',
        'default',
        "toDateTime(ReceivedAt) + toIntervalDay(7) TO VOLUME 'cold'",
      ]),
      { ...insert, sql: insert.sql.replace('\nFORMAT RowBinary', '') },
      ...engine.statements.map((sql) => ({ sql, params: { p0: 'weir/a/' } })),
    ];
    for (const statement of statements) await parse(statement);
    assert.ok(statements.some(({ sql }) => sql.startsWith('KILL QUERY ON CLUSTER')));
  });
});
