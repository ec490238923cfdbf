/** A hold of the store for a backup, beside migrations of its tables. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceTextFile } from '../../src/files/atomic-file.ts';
import { holdStore, releaseStore } from '../../src/engine/hold-store.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { stampedBatch } from '../store/log-row-fixture.ts';
import { localToken } from '../store/local-token.ts';
import { onCluster, openEngineStore } from '../store/engine-store.ts';

const options = { timeoutMs: 20_000, signal: new AbortController().signal };
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

test('has the rows of a table that is detached at that moment', { skip: onCluster }, async () => {
  const engine = await openEngineStore();
  try {
    const { store, dataDir } = engine;
    const run = (sql: string) => store.connection.execute('housekeeping', { sql, params: {} });
    const receivedAtNanos = BigInt(Date.UTC(2026, 4, 3)) * 1_000_000n;
    const batch = stampedBatch([{ body: 'kept' }], { owner, receivedAtNanos });
    await store.insert('logs/1', [batch], 'all', localToken);
    await run('DETACH TABLE weir.logs SYNC');
    const holding = holdStore(dataDir!, options);
    await delay(1_000);
    await run('ATTACH TABLE weir.logs');
    const held = await holding;
    assert.ok(held.some(({ path }) => path.includes('/20260503_')));
    releaseStore(dataDir!);
  } finally {
    await engine.close();
  }
});

test('has definitions that are as new as the migrations recorded in it', async (t) => {
  const directory = temporaryFolder();
  const database = join(directory, 'store', 'store', 'abc', 'abc-database');
  for (const folder of [database, join(directory, 'store', 'metadata')]) {
    mkdirSync(folder, { recursive: true });
  }
  const define = (columns: string) => {
    writeFileSync(join(database, 'logs.sql.tmp'), columns);
    renameSync(join(database, 'logs.sql.tmp'), join(database, 'logs.sql'));
  };
  define('earlier columns');
  const socketPath = join(directory, 'engine.sock');
  writeFileSync(join(directory, 'owner.json'), JSON.stringify({ socketPath }));
  const engine = createServer((request, response) => {
    void readText(request).then((sql) => {
      // A migration takes place before the table with its record is frozen.
      if (sql.includes('FREEZE')) define('later columns');
      response.end(sql.includes('FREEZE') ? '' : '["weir","schema_migrations"]\n');
    });
  });
  await new Promise<void>((resolve) => engine.listen(socketPath, resolve));
  t.after(() => engine.close());

  const manifest = join(directory, 'engine.json');
  writeFileSync(manifest, '{"engineVersion":"3.4.0"}');

  const held = await holdStore(directory, options);
  // A newer engine starts while the files are copied.
  replaceTextFile(manifest, '{"engineVersion":"3.10.0"}');
  const { source } = held.find(({ path }) => path === 'engine.json')!;
  assert.equal(readFileSync(source, 'utf8'), '{"engineVersion":"3.4.0"}');
  const definition = held.find(({ path }) => path.endsWith('/logs.sql'));
  assert.equal(readFileSync(definition!.source, 'utf8'), 'later columns');
});
