/** The SQLite directory: the contract, and behavior of a file that processes share. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';
import { directoryContract } from './contract.ts';
import { newDigest, newToken } from './fixtures.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();

let files = 0;
function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

directoryContract('sqlite', () => openSqliteDirectory({ file: newFile() }));

test('creates files with mode 0600', async () => {
  const file = newFile();
  const directory = await openSqliteDirectory({ file });
  await directory.createAccount({ name: 'acme', eventsPerSecond: null });
  for (const suffix of ['', '-wal', '-shm']) {
    assert.equal(statSync(file + suffix).mode & 0o777, 0o600, `mode of the file${suffix}`);
  }
  await directory.close();
});

test('reads earlier writes after reopening', async () => {
  const file = newFile();
  const first = await openSqliteDirectory({ file }, () => 0);
  const account = await first.createAccount({ name: 'acme', eventsPerSecond: null });
  await first.close();
  const second = await openSqliteDirectory({ file });
  assert.deepEqual(await second.listAccounts(), [account]);
  assert.equal(account.createdAt, '1970-01-01T00:00:00.000Z');
  await second.close();
});

test('refuses a file of a newer version', async () => {
  const file = newFile();
  await (await openSqliteDirectory({ file })).close();
  const database = new DatabaseSync(file);
  database.exec(`INSERT INTO directory_migrations VALUES (999, '')`);
  database.close();
  await assert.rejects(
    openSqliteDirectory({ file }),
    /cannot open the directory: it has version 999/,
  );
});

test('refuses a value that changed on disk until it is accepted', async () => {
  const file = newFile();
  const directory = await openSqliteDirectory({ file });
  await directory.createAccount({ name: 'acme-of-old', eventsPerSecond: null });
  await directory.close();
  const bytes = readFileSync(file);
  const at = bytes.indexOf('acme-of-old');
  assert.ok(at > 0, 'the name must be in the file, not in its write-ahead log');
  bytes[at] = 'A'.charCodeAt(0);
  writeFileSync(file, bytes);
  await assert.rejects(openSqliteDirectory({ file }), /changed on disk.*weir directory accept/);
  await (await openSqliteDirectory({ file, acceptsDamage: true })).close();
  const accepted = await openSqliteDirectory({ file });
  assert.equal((await accepted.listAccounts())[0]?.name, 'Acme-of-old');
  await accepted.close();
});

test('loses no acknowledged change to a damaged log of a killed process', async () => {
  const file = newFile();
  const directory = await openSqliteDirectory({ file });
  await directory.createAccount({ name: 'acme', eventsPerSecond: null });
  const copy = newFile();
  for (const suffix of ['', '-wal']) copyFileSync(file + suffix, copy + suffix);
  await directory.close();
  const log = readFileSync(`${copy}-wal`);
  writeFileSync(`${copy}-wal`, log.subarray(0, Math.floor(log.length / 2)));
  const reopened = await openSqliteDirectory({ file: copy });
  assert.deepEqual(
    (await reopened.listAccounts()).map(({ name }) => name),
    ['acme'],
  );
  await reopened.close();
});

test('a migration keeps the access of tokens without accounts', async () => {
  const file = newFile();
  const first = await openSqliteDirectory({ file });
  const { accountId } = await first.createAccount({ name: 'acme', eventsPerSecond: null });
  const digests = { everywhere: newDigest(), bound: newDigest() };
  await first.createToken(newToken({ scopes: ['operator'], digest: digests.everywhere }));
  const accountIds = [accountId];
  await first.createToken(newToken({ scopes: ['operator'], accountIds, digest: digests.bound }));
  await first.close();
  const database = new DatabaseSync(file);
  database.exec('ALTER TABLE tokens DROP COLUMN all_accounts');
  database.exec('ALTER TABLE receivers DROP COLUMN transform');
  database.exec('ALTER TABLE streams DROP COLUMN downsampling');
  const later = ['sessions', 'sign_in_links', 'rule_groups', 'leases', 'notifiers'];
  for (const table of [...later, 'deleted_streams']) {
    database.exec(`DROP TABLE ${table}`);
  }
  database.exec('DELETE FROM directory_migrations WHERE version >= 4');
  // The digest covers the columns of the newer version.
  database.exec('DROP TABLE control_digest');
  database.close();
  const second = await openSqliteDirectory({ file });
  assert.equal((await second.findToken(digests.everywhere))?.allAccounts, true);
  assert.equal((await second.findToken(digests.bound))?.allAccounts, false);
  await second.close();
});

test('refuses a file that is not a directory and names it', async () => {
  const file = newFile();
  writeFileSync(file, 'something else entirely\n'.repeat(100));
  await assert.rejects(openSqliteDirectory({ file }), /cannot open the directory .*not a database/);
});

test('reads continue and writes wait while another process writes', async () => {
  const file = newFile();
  const directory = await openSqliteDirectory({ file });
  const holder = new DatabaseSync(file);
  holder.exec('BEGIN IMMEDIATE');
  let written = false;
  const write = directory.createAccount({ name: 'waits', eventsPerSecond: null }).then(() => {
    written = true;
  });
  assert.deepEqual(await directory.listAccounts(), []);
  assert.equal(written, false);
  holder.exec('COMMIT');
  holder.close();
  await write;
  assert.equal((await directory.listAccounts()).length, 1);
  await directory.close();
});

test('an acknowledged write survives a kill', async () => {
  const file = newFile();
  const writer = startWriter(file, 1_000_000);
  const answered: string[] = [];
  for await (const name of createInterface({ input: writer.stdout! })) {
    answered.push(name);
    if (answered.length === 5) break;
  }
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  const directory = await openSqliteDirectory({ file });
  const names = new Set((await directory.listAccounts()).map((account) => account.name));
  for (const name of answered) assert.ok(names.has(name), `${name} was answered and lost`);
  await directory.close();
});

test('three processes can open and write one file concurrently', async () => {
  const file = newFile();
  const writers = [1, 2, 3].map(() => startWriter(file, 100));
  const exits = writers.map(async (writer) => {
    writer.stdout?.resume();
    const [code] = (await once(writer, 'exit')) as [number | null];
    return code;
  });
  assert.deepEqual(await Promise.all(exits), [0, 0, 0]);
  const directory = await openSqliteDirectory({ file });
  assert.equal((await directory.listAccounts()).length, 300);
  await directory.close();
});

/** A process that creates `count` accounts and prints the name of each after its write. */
function startWriter(file: string, count: number): ChildProcess {
  const script = fileURLToPath(new URL('./account-writer.ts', import.meta.url));
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return spawn(process.execPath, [script, file, String(count)], { stdio: [...stdio] });
}
