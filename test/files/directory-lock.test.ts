/** One process per data directory, in any state of the lock file. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockDirectory } from '../../src/files/directory-lock.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const root = temporaryFolder();
let folders = 0;

function newFolder(): string {
  const folder = join(root, String(folders++));
  mkdirSync(folder);
  return folder;
}

/** Another process that holds the lock until it is killed. */
async function startHolder(folder: string): Promise<ChildProcess> {
  const module = new URL('../../src/files/directory-lock.ts', import.meta.url).href;
  const script = `const { lockDirectory } = await import(${JSON.stringify(module)});
    lockDirectory(${JSON.stringify(folder)});
    console.log('locked');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('refuses a second process, naming the pid of the first', async () => {
  const folder = newFolder();
  const holder = await startHolder(folder);
  const refusal = new RegExp(`another weir process \\(pid ${String(holder.pid)}\\) holds it`);
  assert.throws(() => lockDirectory(folder), refusal);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const lock = lockDirectory(folder);
  assert.equal(readFileSync(join(folder, 'owner.pid'), 'utf8'), `${process.pid}\n`);
  lock.release();
});

test('replaces a damaged lock file, whose holder still excludes others', async () => {
  const folder = newFolder();
  const garbage = Buffer.alloc(9000, 'garbage');
  writeFileSync(join(folder, 'lock.db'), garbage);
  const mended = lockDirectory(folder);
  assert.equal(mended.isMended, true);
  mended.release();
  const holder = await startHolder(folder);
  writeFileSync(join(folder, 'lock.db'), garbage);
  assert.throws(() => lockDirectory(folder), /another weir process/);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
});

test('names what keeps the file from being opened', () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'lock.db'));
  assert.throws(() => lockDirectory(folder), /cannot lock data directory .*lock\.db/);
});
