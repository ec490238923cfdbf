/** The queue on local disk fulfils the contract of a queue. */
import { rm } from 'node:fs/promises';
import { suite } from 'node:test';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { type QueuePlace, testQueueContract } from './contract.ts';
import { testQuarantine } from './quarantine-contract.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

suite('the queue on local disk', () => {
  testQueueContract(createPlace);
  testQuarantine(createPlace);
});

async function createPlace(): Promise<QueuePlace> {
  const directory = temporaryFolder();
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
