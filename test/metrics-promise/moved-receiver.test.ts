/** Nothing is acknowledged into a deleted stream, however long its body took to arrive. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PassThrough } from 'node:stream';
import { toNumber } from '../harness/prompb.ts';
import { openPipeline, type Pipeline, promText } from './pipeline.ts';

let pipeline: Pipeline;
before(async () => {
  pipeline = await openPipeline({ nowMs: Date.UTC(2026, 4, 20, 12) });
});
after(() => pipeline.close());

async function values(name: string): Promise<number[]> {
  const series = await pipeline.read(name);
  return series.flatMap(({ samples }) => samples.map(({ bits }) => toNumber(bits)));
}

test('a body begun before its receiver moved goes to the new stream', async () => {
  const [old, next] = [await pipeline.createStream(), await pipeline.createStream()];
  const receiverId = await pipeline.createReceiver(old);
  const body = new PassThrough();
  body.write('moved 1\n');
  const sent = pipeline.send(receiverId, promText, { body });
  await pipeline.whileReading(body);
  await pipeline.admin('updateReceiver', { receiverId }, { streamId: next });
  await pipeline.admin('deleteStream', { streamId: old });
  body.end();
  assert.equal(await sent, 202);
  assert.deepEqual(await values('moved'), [1]);
});

test('refuses a body begun before its receiver was deleted', async () => {
  const streamId = await pipeline.createStream();
  const receiverId = await pipeline.createReceiver(streamId);
  const body = new PassThrough();
  body.write('deleted 1\n');
  const sent = pipeline.send(receiverId, promText, { body });
  await pipeline.whileReading(body);
  await pipeline.admin('deleteReceiver', { receiverId });
  body.end();
  assert.equal(await sent, 'not_found');
  assert.deepEqual(await values('deleted'), []);
});
