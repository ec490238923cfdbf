/** What deletions of streams expect of a quarantine, run against each queue. */
import { test } from 'node:test';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { Shard } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { owner, type QueuePlace, untilCount, write } from './contract.ts';
import { openSink } from './sink.ts';

export interface QuarantinePlace extends QueuePlace {
  /** Puts bytes into quarantine that are no batch. */
  putUnreadable(): Promise<void>;
}

export function testQuarantine(createPlace: () => Promise<QuarantinePlace>): void {
  test('drops batches of one stream from quarantine, up to a time of receipt', async (t) => {
    const place = await createPlace();
    const queue = await place.open();
    const refuse = async (batches: readonly StampedBatch[], shard: Shard) => {
      for (const batch of batches) await shard.quarantine(batch, 'for a test');
    };
    const sink = openSink(queue, { took: refuse });
    t.after(async () => {
      await sink.close();
      await queue.close();
      await place.remove();
    });
    const isCounted = (count: number) =>
      until(() => queue.status().quarantinedBatches === count, { what: `${count} in quarantine` });
    await queue.append(write('early'), owner('a'));
    await queue.append(write('other'), owner('b'));
    await untilCount(sink.released, 2);
    await place.putUnreadable();
    const cutoff = await queue.receiptCutoff();
    await queue.append(write('late'), owner('a'));
    await untilCount(sink.released, 3);
    await isCounted(4);
    await queue.dropQuarantined('a', cutoff);
    await isCounted(3);
    await queue.dropQuarantined('a');
    await isCounted(2);
    await queue.dropQuarantined('b');
    await isCounted(1);
  });
}
