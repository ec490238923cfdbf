/** The quarantine on a real disk, listed and backed up while it changes. */
import assert from 'node:assert/strict';
import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createNodeFileSystem } from '../../src/files/file-system.ts';
import { holdLog, releaseHold } from '../../src/queue/disk/log-backup.ts';
import { pathsOf, prepareDirectories } from '../../src/queue/disk/log-directory.ts';
import { openQuarantineFolder, removeBatchesOf } from '../../src/queue/disk/quarantine-folder.ts';
import { encodeFrame, finishFrame, measureFrame } from '../../src/queue/frame.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

let directory: string;
let folder: string;
beforeEach(() => {
  directory = temporaryFolder();
  prepareDirectories(createNodeFileSystem(), pathsOf(directory));
  folder = pathsOf(directory).quarantine;
});

const stemOf = (sequence: number) => String(sequence).padStart(20, '0');

function put(sequence: number, ...endings: readonly string[]): void {
  const id = { writer: 7n, sequence: BigInt(sequence) };
  const payload = Buffer.alloc(100);
  const batch = { id, receivedAtNanos: 1n, owner, layout: 'logs/1', rows: 1, payload } as const;
  const frame = Buffer.alloc(measureFrame(batch));
  encodeFrame(frame, 0, batch);
  finishFrame(frame, 0, 0);
  for (const ending of endings) {
    const bytes = ending === '.json' ? `{"reason":"refused ${sequence}"}` : frame;
    writeFileSync(join(folder, stemOf(sequence) + ending), bytes);
  }
}

async function list() {
  const shown = await openQuarantineFolder(directory).list();
  return shown
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, retry, reason }) => [id, retry, reason]);
}

test('lists damaged files, and files under both names', async () => {
  put(1, '.json', '.batch');
  put(2, '.json', '.batch', '.retry');
  put(3, '.json', '.damaged');
  writeFileSync(join(folder, '900-64.damaged'), 'bytes');
  assert.deepEqual(await list(), [
    [`${stemOf(3)}.damaged`, 'no', 'damaged; refused 3'],
    ['7-1', 'no', 'refused 1'],
    ['7-2', 'next start', 'refused 2'],
    ['900-64.damaged', 'no', 'damaged bytes of the log'],
  ]);
  const opened = openQuarantineFolder(directory);
  await assert.rejects(opened.retry('900-64.damaged'), /no whole batch/);
  await opened.retry('7-1');
  assert.equal((await opened.list()).find(({ id }) => id === '7-1')?.retry, 'next start');
  for (const { id } of await opened.list()) await opened.drop(id);
  assert.deepEqual([await opened.list(), readdirSync(folder)], [[], []]);
});

test('reads each file once', async () => {
  for (let sequence = 1; sequence <= 3; sequence++) put(sequence, '.batch');
  const opened = openQuarantineFolder(directory);
  const found = await opened.list();
  // A second read would not find it.
  unlinkSync(join(folder, `${stemOf(3)}.batch`));
  for (const { id } of found.slice(0, 2)) await opened.retry(id);
  assert.equal((await opened.list()).length, 3);
  await opened.drop('7-3');
  assert.deepEqual(readdirSync(folder).sort(), [`${stemOf(1)}.retry`, `${stemOf(2)}.retry`]);
});

test('drops the batches of a stream with one sync, and those beside an unreadable one', () => {
  for (let sequence = 1; sequence <= 5; sequence++) put(sequence, '.json', '.batch');
  const fs = createNodeFileSystem();
  let syncs = 0;
  const failing = {
    ...fs,
    open(path: string, ...how: [Parameters<typeof fs.open>[1]]) {
      if (path.includes(stemOf(2))) throw new Error('EIO: i/o error');
      return fs.open(path, ...how);
    },
    syncDirectory(path: string) {
      syncs++;
      fs.syncDirectory(path);
    },
  };
  assert.throws(() => removeBatchesOf(failing, folder, 'stream', undefined), /EIO/);
  assert.deepEqual(readdirSync(folder).sort(), [`${stemOf(2)}.batch`, `${stemOf(2)}.json`]);
  assert.equal(syncs, 1);
});

/** Renames a batch back and forth. */
const renaming = `
const { linkSync, unlinkSync } = require('node:fs');
const { workerData: { from, to, state } } = require('node:worker_threads');
const running = new Int32Array(state);
Atomics.store(running, 0, 1);
Atomics.notify(running, 0);
for (let [has, next] = [from, to]; Atomics.load(running, 0) === 1; [has, next] = [next, has]) {
  linkSync(has, next);
  unlinkSync(has);
}`;

test('a backup beside a running service misses no batch, and listing does not fail', async () => {
  // Slower to read, so that more renames happen meanwhile.
  for (let sequence = 1; sequence <= 40; sequence++) put(sequence, '.batch');
  put(50, '.retry');
  const state = new SharedArrayBuffer(4);
  const [from, to] = ['.retry', '.batch'].map((ending) => join(folder, stemOf(50) + ending));
  const worker = new Worker(renaming, { eval: true, workerData: { from, to, state } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const running = new Int32Array(state);
  await Atomics.waitAsync(running, 0, 0).value;
  try {
    for (let round = 0; round < 100; round++) {
      const held = holdLog(directory).filter(({ path }) => path.includes(stemOf(50)));
      assert.ok(held.length > 0, `found no batch in round ${round}`);
      assert.ok((await openQuarantineFolder(directory).list()).length >= 40);
    }
  } finally {
    Atomics.store(running, 0, 0);
    await ended;
    releaseHold(directory);
  }
});
