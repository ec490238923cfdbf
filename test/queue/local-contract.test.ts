/** The queue on local disk fulfils the contract of a queue. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'node:test';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { type QueuePlace, testQueueContract } from './contract.ts';

suite('the queue on local disk', () => testQueueContract(createPlace));

async function createPlace(): Promise<QueuePlace> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-queue-contract-'));
  return {
    shards: 1,
    open: () =>
      openLocalQueue(
        { directory, minFreeDiskBytes: 0 },
        createQueueEvents(createInstruments('silent')),
      ),
    remove: () => rm(directory, { recursive: true }),
  };
}
