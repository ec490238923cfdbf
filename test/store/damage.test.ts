/** Damage to files of the store is always reported. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { createHousekeeping, housekeepingDefaults } from '../../src/store/housekeeping.ts';
import { type EngineStore, openEngineStore, truncateTables } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { stampedBatch } from './log-row-fixture.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
beforeEach(() => truncateTables(engine));
after(() => engine.close());

const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };

/** Stores a batch in the partition of a day, where it is alone. @returns the folder of its part */
async function fill(daysAgo = 0): Promise<string> {
  const receivedAt = new Date(Date.now() - daysAgo * 86_400_000);
  const receivedAtNanos = BigInt(receivedAt.getTime()) * 1_000_000n;
  const partition = receivedAt.toISOString().slice(0, 10).replaceAll('-', '');
  const batch = stampedBatch([{ body: 'one' }, { body: 'two' }], { owner, receivedAtNanos });
  await engine.store.insert('logs/1', [batch], 'all', localToken);
  const [row] = await engine.store.connection.query<[string]>('housekeeping', {
    sql: `SELECT path FROM system.parts
WHERE active AND table = 'logs' AND partition_id = '${partition}'
ORDER BY min_block_number DESC`,
    params: {},
  });
  return row![0];
}

function flipBit(file: string): void {
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

function openHousekeeping() {
  const parts = {
    store: engine.store,
    streams: async () => [],
    deletedStreams: async () => [],
    now: Date.now,
  };
  return createHousekeeping(parts, housekeepingDefaults);
}

const never = new AbortController().signal;

/** @param name with labels, as in the exposition */
async function metric(name: string): Promise<number> {
  const text = await engine.instruments.metrics.metrics();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

const detachedParts = 'weir_store_damaged_parts{state="detached"}';
const corruptParts = 'weir_store_damaged_parts{state="corrupt"}';

test('counts a part that the engine detaches at its start', async () => {
  const part = await fill();
  const housekeeping = openHousekeeping();
  await housekeeping.checkForDamage(never);
  assert.equal(await metric(detachedParts), 0);
  writeFileSync(join(part, 'columns.txt'), '');
  await engine.restart();
  await housekeeping.checkForDamage(never);
  assert.equal(await metric(detachedParts), 1);
});

test('the scrub finds a flipped bit in any file', async () => {
  const files = ['minmax_ReceivedAt.idx', 'primary.cidx', 'count.txt', 'data.bin'];
  for (const [day, file] of files.entries()) {
    const part = await fill(day);
    assert.ok(readdirSync(part).includes(file), file);
    flipBit(join(part, file));
  }
  await fill(files.length);
  await openHousekeeping().runRound(never);
  assert.equal(await metric(corruptParts), files.length);
  assert.equal(await metric('weir_store_unscrubbed_parts'), 0);
});

test('the scrub verifies intact parts once', async () => {
  await fill();
  const housekeeping = openHousekeeping();
  await housekeeping.runRound(never);
  const part = await fill();
  flipBit(join(part, 'data.bin'));
  await housekeeping.runRound(never);
  assert.equal(await metric(corruptParts), 0);
});

test('counts a read that meets damaged data', async () => {
  const part = await fill();
  flipBit(join(part, 'data.bin'));
  const housekeeping = openHousekeeping();
  const errors = () => metric('weir_store_corruption_errors_total');
  await housekeeping.checkForDamage(never);
  const earlier = await errors();
  const sql = 'SELECT sum(cityHash64(*)) FROM weir.logs';
  await assert.rejects(engine.store.connection.query('housekeeping', { sql, params: {} }));
  await housekeeping.checkForDamage(never);
  assert.ok((await errors()) > earlier);
});

test('lost metadata of a table stops the start until it is restored', async () => {
  await fill();
  const [row] = await engine.store.connection.query<[string]>('housekeeping', {
    sql: "SELECT metadata_path FROM system.tables WHERE database = 'weir' AND name = 'logs'",
    params: {},
  });
  const file = join(engine.dataDir ?? '', 'store', row![0]);
  const text = readFileSync(file);
  rmSync(file);
  await engine.restart();
  await assert.rejects(engine.reopen({}), /its metadata lacks weir\.logs \(.*restore the \.sql/);
  writeFileSync(file, text);
  await engine.restart();
  await (await engine.reopen({})).close();
});

test('a column whose definition changed on disk stops the start', async () => {
  await fill();
  const [row] = await engine.store.connection.query<[string]>('housekeeping', {
    sql: "SELECT metadata_path FROM system.tables WHERE database = 'weir' AND name = 'logs'",
    params: {},
  });
  const file = join(engine.dataDir ?? '', 'store', row![0]);
  const text = readFileSync(file, 'utf8');
  assert.match(text, /`TraceFlags` UInt8/);
  writeFileSync(file, text.replace('`TraceFlags` UInt8', '`TraceFlagz` UInt8'));
  await engine.restart();
  await assert.rejects(engine.reopen({}), /columns of weir\.logs \(.*changed on disk/);
  writeFileSync(file, text);
  await engine.restart();
  await (await engine.reopen({})).close();
});

test('reports and rewrites a damaged list of tables', async () => {
  const file = join(engine.dataDir ?? '', 'tables.json');
  const whole = readFileSync(file, 'utf8');
  for (const damaged of ['', whole.slice(0, 50), whole.replace(/"uuid": "./, '"uuid": "z')]) {
    writeFileSync(file, damaged);
    await (await engine.reopen({})).close();
    assert.equal(readFileSync(file, 'utf8'), whole);
  }
});
