/**
 * Copies of the queue's log made while it is written: each contains every batch acknowledged
 * before, once and in order, and ids of later batches never collide.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { StampedBatch } from '../../src/model/batch.ts';
import { holdLog, releaseHold, renewLog } from '../../src/queue/disk/log-backup.ts';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { until } from '../harness/until.ts';
import { recordTelemetry } from '../queue/recording-telemetry.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { readLedger } from '../queue/read-ledger.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const everything = { maxRows: 1e9, maxBytes: 1e9 };

/** Like a backup and a restore. */
function copyLog(directory: string, target: string): void {
  for (const { source, path, bytes } of holdLog(directory)) {
    const file = join(target, path);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(source, file);
    truncateSync(file, bytes);
  }
  releaseHold(directory);
  renewLog(target, 0n);
}

async function open(directory: string) {
  const { reported, telemetry } = recordTelemetry();
  const options = { directory, segmentBytes: 200_000, minFreeDiskBytes: 0 };
  return { queue: await openDiskQueue(options, telemetry), reported };
}

/** All queued batches; they stay queued. */
async function readAll(directory: string): Promise<StampedBatch[]> {
  const { queue, reported } = await open(directory);
  const batches: StampedBatch[] = [];
  while (queue.status().batches > batches.length) {
    const taken = await queue.take(everything);
    assert.ok(taken?.suspect, 'any part of it may be stored');
    batches.push(...taken.batches);
  }
  await queue.close();
  assert.deepEqual(reported, { damage: [], foreign: [], checkpoints: [], marks: [] });
  return batches;
}

async function append(directory: string): Promise<StampedBatch> {
  const { queue } = await open(directory);
  const { sequence } = await queue.append(
    { layout: 'logs/1', rows: 1, payload: Buffer.from('new') },
    owner,
  );
  for (;;) {
    const taken = await queue.take(everything);
    const added = taken?.batches.find(({ id }) => id.sequence === sequence);
    if (added === undefined) continue;
    await queue.close();
    return added;
  }
}

/** Appends until disposed. */
function startWriter(directory: string, ledger: string): AsyncDisposable {
  const script = join(import.meta.dirname, '../queue/writer.ts');
  const child = spawn(process.execPath, [script, directory, ledger, '0'], { stdio: 'inherit' });
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('copies a log completely while it is written', async () => {
  const folder = temporaryFolder();
  const [directory, ledger] = [join(folder, 'queue'), join(folder, 'ledger')];
  await using _writer = startWriter(directory, ledger);
  await until(() => existsSync(ledger), { what: 'the first batch' });
  for (let copy = 0; copy < 8; copy++) {
    const grown = (await readLedger(ledger)).length + 150;
    await until(async () => (await readLedger(ledger)).length > grown, { what: 'more batches' });
    const before = await readLedger(ledger);
    const target = join(folder, `copy-${copy}`);
    copyLog(directory, target);
    const batches = await readAll(target);
    const numbers = batches.map(({ payload }) => Number.parseInt(Buffer.from(payload).toString()));
    assert.equal(new Set(numbers).size, numbers.length, 'no batch may be stored twice');
    const found = new Set(numbers);
    assert.deepEqual(
      before.filter((number) => !found.has(number)),
      [],
      'none lost',
    );
    const sequences = batches.map(({ id }) => id.sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => (a < b ? -1 : 1)),
      'in order',
    );
    assert.ok(!existsSync(join(directory, 'backup')), 'the folder must be removed');
  }
});

test('copies of copies assign distinct new ids and keep existing ones', async () => {
  const folder = temporaryFolder();
  const original = join(folder, 'queue');
  await open(original).then(({ queue }) => queue.close());
  const first = await append(original);
  const [left, right] = [join(folder, 'left'), join(folder, 'right')];
  copyLog(original, left);
  copyLog(original, right);
  assert.deepEqual(
    (await readAll(left)).map(({ id }) => id),
    [first.id],
  );
  const added = [await append(original), await append(left), await append(right)];
  const writers = new Set(added.map(({ id }) => id.writer));
  assert.equal(writers.size, 3);
  assert.equal(added[0]?.id.writer, first.id.writer);

  let from = left;
  const ids = [first.id, added[1]!.id];
  for (let generation = 0; generation < 3; generation++) {
    const next = join(folder, `generation-${generation}`);
    copyLog(from, next);
    assert.deepEqual(
      (await readAll(next)).map(({ id }) => id),
      ids,
    );
    ids.push((await append(next)).id);
    from = next;
  }
  assert.equal(new Set(ids.map(({ writer }) => writer)).size, 5);
  const beyond = join(folder, 'beyond');
  copyLog(from, beyond);
  await append(beyond);
  assert.throws(() => copyLog(beyond, join(folder, 'refused')), /of 6 writers, and 5 can be told/);
});

test('copies an empty log', async () => {
  const folder = temporaryFolder();
  const original = join(folder, 'queue');
  await open(original).then(({ queue }) => queue.close());
  const copy = join(folder, 'copy');
  copyLog(original, copy);
  assert.deepEqual(await readAll(copy), []);
  const [left, right] = [await append(original), await append(copy)];
  assert.notEqual(left.id.writer, right.id.writer);
});

test('copies idempotency keys of released batches', async () => {
  const folder = temporaryFolder();
  const original = join(folder, 'queue');
  const { queue } = await open(original);
  const keys = Array.from({ length: 6 }, (_, index) => new Uint8Array(16).fill(index + 1));
  for (const key of keys) {
    const answer = Buffer.from(String(key[0]));
    const record = { key, bodyDigest: new Uint8Array(16), answer };
    const payload = Buffer.alloc(90_000, 'x');
    const { sequence } = await queue.append({ layout: 'logs/1', rows: 1, payload }, owner, record);
    await queue.take(everything);
    if (key[0]! < 5) await queue.release(sequence);
  }
  const target = join(folder, 'copy');
  copyLog(original, target);
  await queue.close();
  assert.ok(readdirSync(join(target, 'keys')).length > 0);
  const copy = await open(target);
  for (const key of keys) {
    assert.equal(Buffer.from(copy.queue.recall(key)?.answer ?? []).toString(), String(key[0]));
  }
  assert.equal(copy.queue.status().batches, 2);
  await copy.queue.close();
  assert.deepEqual(copy.reported, { damage: [], foreign: [], checkpoints: [], marks: [] });
});
