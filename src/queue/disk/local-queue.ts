/**
 * The queue of a Weir that is one process: the log on local disk, drained where it is written, as
 * one shard that is always ours.
 */
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { createNewestReceipts } from '../newest-receipts.ts';
import type { Queue, QueueStatus, Shard } from '../port.ts';
import { type OpenDiskQueueOptions, openDiskQueue } from './open-disk-queue.ts';
import type { DiskQueue } from './disk-queue.ts';
import { createNodeFileSystem } from '../../files/file-system.ts';
import { pathsOf } from './log-options.ts';
import { openRetriedBatches, type RetriedBatches } from './retried-batches.ts';

/** @throws Error where a newer version wrote the directory, or where the disk refuses. */
export async function openLocalQueue(
  options: OpenDiskQueueOptions,
  telemetry: QueueEvents,
): Promise<Queue> {
  await using opened = new AsyncDisposableStack();
  const log = opened.adopt(await openDiskQueue(options, telemetry), (it) => it.close());
  const fs = options.fileSystem ?? createNodeFileSystem();
  const folder = pathsOf(options.directory).quarantine;
  const retried = await openRetriedBatches({ fs, folder, telemetry }, log);
  opened.move();
  return toLocalQueue(log, retried);
}

function toLocalQueue(log: DiskQueue, retried: RetriedBatches): Queue {
  const receipts = createNewestReceipts();
  const listeners: (() => void)[] = [];
  const shard: Shard = {
    // The lock on its directory leaves room for one holder, so there is never a later one.
    fencingToken: { shard: `log-${log.writer.toString(16)}`, epoch: 0n },
    isFirst: true,
    async take(limits) {
      const again = retried.take(limits);
      return again.length === 0 ? log.take(limits) : { batches: again, suspect: true };
    },
    async release(batches) {
      // Before the watermark passes them.
      receipts.note(batches);
      if (retried.has(batches.at(-1)!)) retried.done(batches);
      else await log.release(batches.at(-1)!.id.sequence);
    },
    quarantine: (batch, reason) => log.quarantine(batch, reason),
    backlog: () => status(),
  };
  const status = (): QueueStatus => {
    const found = log.status();
    return {
      ...found,
      batches: found.batches + retried.batches,
      rows: found.rows + retried.rows,
      bytes: found.bytes + retried.bytes,
    };
  };
  return {
    append: async (content, owner, idempotency) => {
      await log.append(content, owner, idempotency);
      return {};
    },
    recall: async (key) => log.recall(key),
    // Nobody else works on it, and what it held for a store before is as good for this one.
    bindStore: async () => undefined,
    work: (begin) => begin(shard),
    watermarkNanos() {
      const ofLog = log.watermarkNanos();
      const oldest = retried.oldestNanos;
      return oldest !== undefined && oldest <= ofLog ? oldest - 1n : ofLog;
    },
    newestReceiptNanos: (streamId) => receipts.newestNanos(streamId),
    drawLine: () => log.drawLine(),
    async forgetSeries() {
      for (const listener of listeners) listener();
    },
    whenSeriesForgotten: (listener) => void listeners.push(listener),
    status,
    close: () => log.close(),
  };
}
