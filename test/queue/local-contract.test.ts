/** The queue on local disk fulfils the contract of a queue. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'node:test';
import { pathsOf } from '../../src/queue/disk/log-directory.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { testQueueContract } from './contract.ts';
import { type QuarantinePlace, testQuarantine } from './quarantine-contract.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

suite('the queue on local disk', () => {
  testQueueContract(createPlace);
  testQuarantine(createPlace);
});

async function createPlace(): Promise<QuarantinePlace> {
  const directory = temporaryFolder();
  return {
    shards: 1,
    open: () =>
      openLocalQueue(
        { directory, minFreeDiskBytes: 0 },
        createQueueEvents(createInstruments('silent')),
      ),
    putUnreadable: () => writeFile(join(pathsOf(directory).quarantine, '7.batch'), 'x'),
    remove: () => rm(directory, { recursive: true }),
  };
}
