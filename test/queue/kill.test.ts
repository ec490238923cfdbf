/** The real disk and log thread, with processes killed at random while they append. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import type { DiskQueue } from '../../src/queue/disk/disk-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { readLedger } from './read-ledger.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? 5);
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const everything = { maxRows: 1e9, maxBytes: 1e9 };

function open(directory: string, options: { idempotencyKeys?: number } = {}): Promise<DiskQueue> {
  const telemetry = createQueueEvents(createInstruments('silent'));
  return openDiskQueue({ directory, minFreeDiskBytes: 0, ...options }, telemetry);
}

/** Killed once a few batches are in the ledger. */
async function appendAndKill(paths: string[]): Promise<void> {
  const ledger = paths[1] ?? '';
  const before = (await readLedger(ledger)).length;
  const script = join(import.meta.dirname, 'writer.ts');
  const child = spawn(process.execPath, [script, ...paths], { stdio: 'inherit' });
  const exited = once(child, 'exit');
  while ((await readLedger(ledger)).length < before + 20) {
    assert.equal(child.exitCode, null, 'the writer must run until it is killed');
    await sleep(5);
  }
  await sleep(Math.random() * 50);
  child.kill('SIGKILL');
  await exited;
}

test('every acknowledged batch survives kill -9, once and in order', async () => {
  const directory = temporaryFolder();
  const ledger = join(directory, 'ledger');
  const queueDirectory = join(directory, 'queue');
  for (let kill = 0; kill < kills; kill++) {
    await appendAndKill([queueDirectory, ledger, String(kill * 1_000_000)]);
  }
  const acknowledged = await readLedger(ledger);
  const queue = await open(queueDirectory);
  const numbers: number[] = [];
  let lastSequence = 0n;
  while (queue.status().batches > 0) {
    const taken = await queue.take(everything);
    assert.ok(taken?.suspect);
    for (const { id, payload } of taken.batches) {
      const [number = '', rest = ''] = Buffer.from(payload).toString().split(':');
      assert.equal(rest.length, Number(number) % 3000, 'whole');
      assert.ok(id.sequence > lastSequence, 'in order');
      lastSequence = id.sequence;
      numbers.push(Number(number));
    }
    await queue.release(lastSequence);
  }
  await queue.close();
  assert.equal(new Set(numbers).size, numbers.length, 'no batch may be stored twice');
  const found = new Set(numbers);
  assert.deepEqual(
    acknowledged.filter((number) => !found.has(number)),
    [],
    'none lost',
  );
  assert.ok(acknowledged.length >= kills * 20);
});

test('returns batches from the real disk as appended', async () => {
  const directory = temporaryFolder();
  const queue = await open(directory);
  const taking = queue.take(everything);
  const key = new Uint8Array(16).fill(1);
  const record = { key, bodyDigest: new Uint8Array(16).fill(2), answer: Buffer.from('{}') };
  const payload = Buffer.from('one');
  const { sequence } = await queue.append({ layout: 'logs/1', rows: 1, payload }, owner, record);
  const taken = await taking;
  assert.equal(taken?.suspect, false);
  assert.equal(taken.batches[0]?.id.sequence, sequence);
  assert.deepEqual(Buffer.from(queue.recall(key)?.answer ?? []).toString(), '{}');
  await queue.release(sequence);
  assert.equal(queue.status().batches, 0);
  await queue.close();

  const again = await open(directory);
  assert.equal(again.status().batches, 0);
  assert.deepEqual(Buffer.from(again.recall(key)?.answer ?? []).toString(), '{}');
  const [quarantined] = taken.batches;
  assert.ok(quarantined !== undefined);
  await again.quarantine(quarantined, 'no good');
  assert.equal(again.status().quarantinedBatches, 1);
  await again.close();
  await assert.rejects(again.append({ layout: 'logs/1', rows: 1, payload }, owner), {
    name: 'AppError',
    code: 'unavailable',
  });
});

test('rejects a directory that cannot be created', async () => {
  await assert.rejects(open('/dev/null/queue'), /ENOTDIR/);
});
