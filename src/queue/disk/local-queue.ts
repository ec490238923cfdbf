/**
 * The queue of a single process: a log on local disk with one shard, which this process drains. The
 * caller holds the lock of the data directory.
 */
import { Worker } from 'node:worker_threads';
import { createRemote, openChannel } from '../../channel/channel.ts';
import { overWorker } from '../../channel/transports.ts';
import { queueSection } from '../../config/schema-queue.ts';
import { createNodeFileSystem, type FileSystem } from '../../files/file-system.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { createNewestReceipts } from '../newest-receipts.ts';
import type { Queue, QueueStatus, Shard } from '../port.ts';
import { DiskQueue, type DiskQueueOptions, type OpenedLog } from './disk-queue.ts';
import { createLogMethods, type LogMethods } from './log.ts';
import { pathsOf, type DiskQueueSettings, type Recovery } from './log-directory.ts';
import { openRetriedBatches, type RetriedBatches } from './retried-batches.ts';
import type { RecordState } from './records.ts';

/** Settings default to those of the configuration. */
export interface OpenDiskQueueOptions extends Partial<DiskQueueOptions> {
  readonly directory: string;
  /** Runs the log on this file system and in the calling thread; for tests. */
  readonly fileSystem?: FileSystem;
}

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
    // The directory lock admits one holder, so that the epoch never changes.
    fencingToken: { shard: `log-${log.writer.toString(16)}`, epoch: 0n },
    isFirst: true,
    async take(limits) {
      const again = retried.take(limits);
      return again.batches.length === 0 ? log.take(limits) : { ...again, suspect: true };
    },
    async release(batches) {
      // Before the watermark advances.
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
    // No other process works on it, and its batches fit any store.
    bindStore: async () => undefined,
    work: (begin) => begin(shard),
    watermarkNanos() {
      const ofLog = log.watermarkNanos();
      const oldest = retried.oldestNanos;
      return oldest !== undefined && oldest <= ofLog ? oldest - 1n : ofLog;
    },
    newestReceiptNanos: (streamId) => receipts.newestNanos(streamId),
    receiptCutoff: () => log.receiptCutoff(),
    dropQuarantined: (...batches) => log.dropQuarantined(...batches),
    async forgetSeries() {
      for (const listener of listeners) listener();
    },
    whenSeriesForgotten: (listener) => void listeners.push(listener),
    status,
    close: () => log.close(),
  };
}

/** @throws Error where a newer version wrote the directory, or where the disk refuses. */
export async function openDiskQueue(
  { fileSystem, ...options }: OpenDiskQueueOptions,
  telemetry: QueueEvents,
): Promise<DiskQueue> {
  const all: DiskQueueOptions = { ...queueSection.parse({}), now: Date.now, ...options };
  const { onFailed: _, now, ...settings } = all;
  const startedAtMs = now();
  const opened = await (fileSystem === undefined
    ? openInThread(settings)
    : openHere(settings, fileSystem));
  const { directory } = settings;
  report(opened.recovery, { directory, durationMs: now() - startedAtMs }, telemetry);
  const queue = new DiskQueue(opened, all, telemetry);
  telemetry.watch(() => queue.status());
  return queue;
}

async function openInThread(settings: DiskQueueSettings): Promise<OpenedLog> {
  const file = import.meta.url.endsWith('.ts') ? './log-thread.ts' : './log-thread.js';
  const transport = overWorker(new Worker(new URL(file, import.meta.url)));
  const channel = openChannel<object, LogMethods>(transport, {});
  const end = async () => {
    channel.close();
    await channel.closed;
  };
  try {
    return { log: channel.remote, recovery: await channel.remote.open(settings), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function openHere(settings: DiskQueueSettings, fs: FileSystem): Promise<OpenedLog> {
  const log = createRemote<LogMethods>(createLogMethods(fs));
  return { log, recovery: await log.open(settings), end: async () => undefined };
}

function report(
  recovery: Recovery,
  where: { readonly directory: string; readonly durationMs: number },
  telemetry: QueueEvents,
): void {
  const { batches, rows, bytes, checkpoint, foreign, damage } = recovery;
  for (const each of damage) telemetry.damageFound(each);
  for (const name of foreign) telemetry.foreignFile({ directory: where.directory, name });
  const { syncedMark } = recovery;
  if (isUnusable(checkpoint)) telemetry.checkpointUnusable({ state: checkpoint });
  if (isUnusable(syncedMark)) telemetry.syncedMarkUnusable({ state: syncedMark });
  const { quarantinedBatches, damagedFiles } = recovery;
  telemetry.opened({ ...where, batches, rows, bytes, quarantinedBatches, damagedFiles });
}

function isUnusable(state: RecordState): state is 'absent' | 'damaged' | 'foreign' {
  return state !== 'read' && state !== 'new';
}
