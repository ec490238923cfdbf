/** Refuses a switch to NATS or a cluster while the local log contains batches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { assertLocalLogDrained, toQueueOptions } from '../../src/service/open-queue.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { until } from '../harness/until.ts';
import { openSink } from './sink.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

test('refuses to start while the local log contains batches', async () => {
  const folder = temporaryFolder();
  const settings = ['--data', folder, '--queue-min-free-disk-bytes', '0'];
  const config = loadConfig({ flags: settings, environment: {} });
  const open = () =>
    openLocalQueue(toQueueOptions(config), createQueueEvents(createInstruments('silent')));
  await assertLocalLogDrained(config);

  let queue = await open();
  const payload = Buffer.from(new ArrayBuffer(10));
  const content = { layout: 'logs/1', rows: 1, payload } as const;
  await queue.append(content, { accountId: 'a', streamId: 's', receiverId: 'r' });
  await queue.close();
  await assert.rejects(assertLocalLogDrained(config), /not stored yet in .*queue \(batches: 1\)/);

  queue = await open();
  const sink = openSink(queue);
  await until(() => sink.released.length === 1, { what: 'the batch' });
  await sink.close();
  await queue.close();
  await assertLocalLogDrained(config);
});
