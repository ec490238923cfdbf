/**
 * A process to be killed: appends numbered batches to a queue on the real disk, and records each
 * acknowledged number durably in a ledger. Arguments: directory, ledger, first number.
 */
import fs from 'node:fs';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';

const [directory = '', ledgerPath = '', first = '0'] = process.argv.slice(2);
const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const telemetry = createQueueEvents(createInstruments('error'));
const queue = await openDiskQueue(
  { directory, segmentBytes: 200_000, minFreeDiskBytes: 0 },
  telemetry,
);
const ledger = fs.openSync(ledgerPath, 'a');
let next = Number(first);
await Promise.all(Array.from({ length: 8 }, send));

async function send(): Promise<void> {
  for (;;) {
    const number = next++;
    const payload = Buffer.from(`${number}:${'x'.repeat(number % 3000)}`);
    await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
    fs.writeSync(ledger, `${number}\n`);
    fs.fdatasyncSync(ledger);
  }
}
