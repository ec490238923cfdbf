/**
 * Backups of a stopped service, as a folder: damage and interruption are detected, and nothing
 * existing is overwritten.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { backUp, type BackupPart, sweepBackups } from '../../src/maintenance/backup.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';
import { replaceTextFile } from '../../src/files/atomic-file.ts';
import { lockDirectory } from '../../src/files/directory-lock.ts';
import { listStore } from '../../src/engine/hold-store.ts';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { restore, verifyBackup } from '../../src/maintenance/restore.ts';
import { assertRestoreFinished } from '../../src/maintenance/unfinished.ts';
import { openEngineNode } from '../../src/service/engine-node.ts';
import { recordTelemetry } from '../queue/recording-telemetry.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const signal = new AbortController().signal;
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const folder = temporaryFolder();
let dataDir: string;

before(async () => {
  dataDir = join(folder, 'data');
  mkdirSync(join(dataDir, 'tls'), { recursive: true });
  lockDirectory(dataDir).release();
  writeFileSync(join(dataDir, 'tls', 'ca.pem'), 'authority');
  writeFileSync(join(dataDir, 'quickstart.json'), '{"accessToken":"wra_x"}');
  const directory = await openSqliteDirectory({ file: join(dataDir, 'directory.db') });
  await directory.createAccount({ name: 'kept', eventsPerSecond: null });
  await directory.close();
  const queue = await openQueue(dataDir);
  await queue.append({ layout: 'logs/1', rows: 1, payload: Buffer.from('waiting') }, owner);
  await queue.close();
});

function openQueue(dir: string) {
  const options = { directory: join(dir, 'queue'), minFreeDiskBytes: 0 };
  return openDiskQueue(options, recordTelemetry().telemetry);
}

/** A new path, removed with the test. */
function newPath(t: TestContext, name: string): string {
  const path = join(folder, `${name}-${Math.random().toString(36).slice(2)}`);
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function makeBackup(t: TestContext, elsewhere: readonly BackupPart[] = []): Promise<string> {
  const destination = newPath(t, 'backup');
  await backUp({ dataDir, destination, elsewhere: new Set(elsewhere), signal });
  return destination;
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('refuses a destination inside the data directory', async (t) => {
  const link = newPath(t, 'link');
  symlinkSync(dataDir, link);
  const inside = [join(dataDir, 'backup'), join(dataDir, 'tls', 'backup'), join(link, 'backup')];
  for (const destination of inside) {
    await assert.rejects(
      backUp({ dataDir, destination, elsewhere: new Set(), signal }),
      /cannot back up to .*: it is inside the data directory/,
    );
    assert.equal(existsSync(destination), false);
  }
  const beside = newPath(t, 'data');
  await backUp({ dataDir, destination: beside, elsewhere: new Set(), signal });
});

const cannotChown = process.getuid?.() !== 0 && 'changes the owner of a file';

test('refuses another user than that of the service', { skip: cannotChown }, async (t) => {
  const lock = join(dataDir, 'lock.db');
  rmSync(join(dataDir, 'backup'), { recursive: true, force: true });
  chownSync(lock, 12345, 12345);
  t.after(() => chownSync(lock, 0, 0));
  await assert.rejects(makeBackup(t), /it belongs to user 12345, and this is user 0; run .* sudo/);
  assert.ok(!existsSync(join(dataDir, 'backup')), 'a later backup must be able to create it');
});

test('root restores into no folder of another user', { skip: cannotChown }, async (t) => {
  const source = await makeBackup(t);
  const target = newPath(t, 'restored');
  mkdirSync(target);
  chownSync(target, 12345, 12345);
  await assert.rejects(
    restore({ source, dataDir: target, signal }),
    /it belongs to user 12345, and this is root; run .* sudo -u '#12345'/,
  );
  assert.deepEqual(readdirSync(target), []);
});

test('lists the files of a stopped engine once, without its symbolic links', async (t) => {
  const engine = newPath(t, 'engine');
  const database = join(engine, 'store/store/abc/abc-1');
  mkdirSync(join(database, 'all_1_1_0'), { recursive: true });
  mkdirSync(join(database, 'tmp_merge'));
  mkdirSync(join(engine, 'store/metadata'));
  for (const name of ['logs.sql', 'all_1_1_0/data.bin', 'tmp_merge/data.bin']) {
    writeFileSync(join(database, name), '');
  }
  symlinkSync(database, join(engine, 'store/metadata/weir'));
  const listed = await listStore(engine, { timeoutMs: 0, signal });
  assert.deepEqual(listed.map(({ path }) => path).sort(), [
    'store/store/abc/abc-1/all_1_1_0/data.bin',
    'store/store/abc/abc-1/logs.sql',
  ]);
});

test('backs up and restores a stopped service', async (t) => {
  const source = await makeBackup(t);
  for (const file of filesBelow(source)) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  assert.equal(statSync(source).mode & 0o777, 0o700);
  const manifest = await verifyBackup(source, signal);
  assert.deepEqual(manifest.holds, ['queue', 'directory', 'tls', 'tokens of the first run']);

  const target = newPath(t, 'restored');
  await restore({ source, dataDir: target, signal });
  const directory = await openSqliteDirectory({ file: join(target, 'directory.db') });
  assert.deepEqual(
    (await directory.listAccounts()).map(({ name }) => name),
    ['kept'],
  );
  await directory.close();
  const queue = await openQueue(target);
  assert.equal(queue.status().batches, 1);
  await queue.close();
  assert.equal(readFileSync(join(target, 'tls/ca.pem'), 'utf8'), 'authority');
  assert.equal(readFileSync(join(target, 'first-run.json'), 'utf8'), '{"accessToken":"wra_x"}');
  assert.ok(!existsSync(join(target, 'restoring')));
});

test('backs up a restored directory that was never started', async (t) => {
  const first = newPath(t, 'restored');
  await restore({ source: await makeBackup(t), dataDir: first, signal });
  const again = newPath(t, 'backup');
  await backUp({ dataDir: first, destination: again, elsewhere: new Set(), signal });
  const second = newPath(t, 'restored');
  await restore({ source: again, dataDir: second, signal });
  const queue = await openQueue(second);
  assert.equal(queue.status().batches, 1);
  await queue.close();
});

test('names a file with a flipped bit and a missing file', async (t) => {
  const source = await makeBackup(t);
  for (const file of filesBelow(source)) {
    const bytes = readFileSync(file);
    const damaged = Buffer.from(bytes);
    damaged[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(file, damaged);
    const target = newPath(t, 'refused');
    const name = file.slice(source.length + 1).replace(/^data\//, '');
    // A damaged digest is reported as damage of its file.
    const words = name === 'SHA256SUMS' ? /is damaged/ : new RegExp(`${name} is damaged`);
    await assert.rejects(verifyBackup(source, signal), words, name);
    await assert.rejects(restore({ source, dataDir: target, signal }), words, name);
    assert.ok(!existsSync(target), 'no file may remain');
    writeFileSync(file, bytes);
  }
  rmSync(join(source, 'data/tls/ca.pem'));
  truncateSync(join(source, 'data/directory.db'), 5000);
  const both = /directory\.db is damaged; tls\/ca\.pem is missing/;
  await assert.rejects(verifyBackup(source, signal), both);
});

test('refuses a backup of a newer version', async (t) => {
  const source = await makeBackup(t);
  const target = newPath(t, 'refused');
  const file = join(source, 'backup.json');
  const made = readFileSync(file, 'utf8');
  const rewrite = (text: string) => {
    const digest = (of: string) => createHash('sha256').update(of).digest('hex');
    const sums = join(source, 'SHA256SUMS');
    const earlier = digest(readFileSync(file, 'utf8'));
    writeFileSync(sums, readFileSync(sums, 'utf8').replace(earlier, digest(text)));
    writeFileSync(file, text);
  };
  rewrite(made.replace(/"weirVersion": ".*"/, '"weirVersion": "99.0.0"'));
  const refused = () => restore({ source, dataDir: target, signal });
  await assert.rejects(refused(), /weir 99\.0\.0 made it, and this is .*; upgrade weir/);
  rewrite(made.replace('"format": 1', '"format": 2'));
  await assert.rejects(refused(), /has format 2, this weir knows up to 1/);
  assert.ok(!existsSync(target));
});

test('never overwrites or merges into existing data', async (t) => {
  const source = await makeBackup(t);
  const refused = backUp({ dataDir, destination: source, elsewhere: new Set(), signal });
  await assert.rejects(refused, /it exists/);
  const nowhere = join(folder, 'no such folder', 'backup');
  const orphan = backUp({ dataDir, destination: nowhere, elsewhere: new Set(), signal });
  await assert.rejects(orphan, /create the folder .*no such folder first/);

  const target = newPath(t, 'taken');
  mkdirSync(target);
  writeFileSync(join(target, 'mine.txt'), 'mine');
  await assert.rejects(restore({ source, dataDir: target, signal }), /not empty \(mine\.txt\)/);
  assert.equal(readFileSync(join(target, 'mine.txt'), 'utf8'), 'mine');
  const lock = lockDirectory(dataDir);
  await assert.rejects(restore({ source, dataDir, signal }), /another weir process .* holds it/);
  lock.release();
  await assert.rejects(restore({ source: target, dataDir, signal }), /it has no backup\.json/);
});

test('an interrupted backup leaves nothing; the rest of a killed one is removed', async (t) => {
  const destination = newPath(t, 'backup');
  const interrupted = AbortSignal.abort(new Error('interrupted'));
  const elsewhere = new Set<BackupPart>();
  const backup = backUp({ dataDir, destination, elsewhere, signal: interrupted });
  await assert.rejects(backup, /interrupted/);
  assert.ok(!existsSync(destination) && !existsSync(`${destination}.partial`));
  assert.ok(!existsSync(join(dataDir, 'queue/backup')));

  mkdirSync(join(`${destination}.partial`, 'data'), { recursive: true });
  const partial = { source: `${destination}.partial`, dataDir: newPath(t, 'x'), signal };
  await assert.rejects(restore(partial), /since it was never finished/);
  mkdirSync(join(dataDir, 'queue/backup/segments'), { recursive: true });
  sweepBackups(dataDir);
  assert.ok(!existsSync(join(dataDir, 'queue/backup')));
  await backUp({ dataDir, destination, elsewhere, signal });
  await verifyBackup(destination, signal);
  assert.ok(!existsSync(`${destination}.partial`));
});

test('copies files as they were, though a service that starts replaces them', async (t) => {
  const file = join(dataDir, 'quickstart.json');
  const earlier = readFileSync(file, 'utf8');
  t.after(() => writeFileSync(file, earlier));
  const destination = newPath(t, 'backup');
  const starting = new AbortController().signal;
  let hasStarted = false;
  // Called once files are held and copied.
  starting.throwIfAborted = () => {
    if (!hasStarted) replaceTextFile(file, `{"accessToken":"wra_x","sockets":{}}`);
    hasStarted = true;
  };
  await backUp({ dataDir, destination, elsewhere: new Set(), signal: starting });
  assert.ok(hasStarted);
  assert.equal(readFileSync(join(destination, 'data/first-run.json'), 'utf8'), earlier);
});

test('an unfinished restore is detected and can be repeated', async (t) => {
  const source = await makeBackup(t);
  const target = newPath(t, 'restored');
  const interrupted = AbortSignal.abort(new Error('interrupted'));
  const first = restore({ source, dataDir: target, signal: interrupted });
  await assert.rejects(first, /interrupted/);
  assert.ok(!existsSync(target));
  // The state that a killed restore leaves.
  mkdirSync(join(target, 'restoring', 'queue'), { recursive: true });
  assert.throws(
    () => assertRestoreFinished(target),
    /a restore into it did not finish; empty it and restore again/,
  );
  await restore({ source, dataDir: target, signal });
  assertRestoreFinished(target);
});

test('an engine node does not start on an unfinished restore either', async (t) => {
  const target = newPath(t, 'restored');
  mkdirSync(join(target, 'restoring'), { recursive: true });
  const flags = ['--roles', 'engine', '--data', target, '--engine-port', '0', '--ops-port', '0'];
  const config = loadConfig({ flags, environment: { WEIR_LOG_LEVEL: 'silent' } });
  const start = async () => (await openEngineNode(config)).close();
  await assert.rejects(start(), /a restore into it did not finish/);
  assert.ok(!existsSync(join(target, 'engine')));
});

test('runs one backup at a time', async (t) => {
  mkdirSync(join(dataDir, 'backup'), { recursive: true });
  const turn = lockDirectory(join(dataDir, 'backup'));
  t.after(() => turn.release());
  mkdirSync(join(dataDir, 'queue/backup'), { recursive: true });
  await assert.rejects(makeBackup(t), /another backup of it is running/);
  sweepBackups(dataDir);
  assert.ok(existsSync(join(dataDir, 'queue/backup')), 'the running backup needs it');
});

test('omits parts stored on servers, and refuses an empty backup', async (t) => {
  const { holds } = await verifyBackup(await makeBackup(t, ['directory']), signal);
  assert.deepEqual(holds, ['queue', 'tls', 'tokens of the first run']);
  const all = makeBackup(t, ['directory', 'queue', 'store']);
  await assert.rejects(all, /cannot find anything to back up .*docs\/runbook-upkeep\.md/);
  const empty = newPath(t, 'empty');
  mkdirSync(empty);
  const destination = join(dirname(empty), 'never');
  const none = backUp({ dataDir: empty, destination, elsewhere: new Set(), signal });
  await assert.rejects(none, /no weir has run on it/);
  assert.deepEqual(readdirSync(empty), []);
});

test('refuses a file that became shorter', async (t) => {
  const { copyFile } = await import('../../src/maintenance/copy-file.ts');
  const source = newPath(t, 'short');
  appendFileSync(source, 'four');
  const copied = copyFile({ source, bytes: 5 }, newPath(t, 'copy'), signal);
  await assert.rejects(copied, /it has become shorter/);
});
