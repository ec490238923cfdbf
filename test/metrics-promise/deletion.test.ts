/**
 * After a deletion of a stream's data, later samples are stored with their labels and earlier ones
 * are deleted, whatever the clock does.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { toNumber, toSample } from '../harness/prompb.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';

const startMs = Date.UTC(2026, 4, 20, 12, 0, 0, 200);
const hourMs = 3_600_000;

let pipeline: Pipeline;
let streamId: string;
let receiverId: string;
let sampleMs: number;
before(async () => {
  pipeline = await openPipeline({ nowMs: startMs });
});
after(() => pipeline.close());
beforeEach(async () => {
  pipeline.nowMs += hourMs;
  sampleMs = pipeline.nowMs - 60_000;
  streamId = await pipeline.createStream();
  receiverId = await pipeline.createReceiver(streamId);
});

/** One sample of the only series; each has a later time. */
async function write(value: number): Promise<void> {
  const samples = [toSample(sampleMs++, value)];
  const labels = { __name__: `deleted_${streamId}`, kind: 'any' };
  assert.equal(await pipeline.write(receiverId, [{ labels, samples }]), 204);
}

async function values(): Promise<number[]> {
  const [series, ...others] = await pipeline.read(`deleted_${streamId}`);
  assert.deepEqual(others, []);
  return (series?.samples ?? []).map(({ bits }) => toNumber(bits));
}

const deleteData = () => pipeline.admin('deleteStreamData', { streamId });

test('keeps samples received in the millisecond of the deletion, after it', async () => {
  await write(1);
  await deleteData();
  await write(2);
  pipeline.nowMs += 5000;
  await write(3);
  assert.deepEqual(await values(), [2, 3]);
});

test('keeps samples received in the second of the deletion, after it', async () => {
  await write(1);
  await deleteData();
  pipeline.nowMs += 300;
  await write(2);
  assert.deepEqual(await values(), [2]);
});

test('keeps samples received after the clock was set back', async () => {
  await write(1);
  await deleteData();
  pipeline.nowMs -= 30_000;
  await write(2);
  pipeline.nowMs += hourMs;
  await write(3);
  assert.deepEqual(await values(), [2, 3]);
});

test('removes earlier samples when the clock was ahead and is set back', async () => {
  pipeline.nowMs += hourMs;
  await write(1);
  pipeline.nowMs -= hourMs;
  await deleteData();
  assert.deepEqual(await values(), []);
  await write(2);
  assert.deepEqual(await values(), [2]);
});

test('a second deletion after the clock was set back does not undo the first', async () => {
  await write(1);
  await deleteData();
  pipeline.nowMs -= 30_000;
  await deleteData();
  await write(2);
  assert.deepEqual(await values(), [2]);
});

test('keeps samples received after a restart following the deletion', async () => {
  await write(1);
  await deleteData();
  await pipeline.restart();
  await write(2);
  pipeline.nowMs += 5000;
  await write(3);
  assert.deepEqual(await values(), [2, 3]);
});
