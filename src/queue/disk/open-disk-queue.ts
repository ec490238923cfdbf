/** Opens the queue on local disk. The caller holds the lock of the data directory. */
import { Worker } from 'node:worker_threads';
import { createRemote, openChannel } from '../../channel/channel.ts';
import { overWorker } from '../../channel/transports.ts';
import { queueSection } from '../../config/schema-queue.ts';
import type { FileSystem } from '../../files/file-system.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { DiskQueue, type DiskQueueOptions, type OpenedLog } from './disk-queue.ts';
import { createLogMethods, type LogMethods } from './log.ts';
import type { DiskQueueSettings, RecordState, Recovery } from './log-options.ts';

/** Settings default to those of the configuration. */
export interface OpenDiskQueueOptions extends Partial<DiskQueueOptions> {
  readonly directory: string;
  /** Runs the log on this file system and in the calling thread; for tests. */
  readonly fileSystem?: FileSystem;
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
  const { quarantinedBatches, setAsideFiles } = recovery;
  telemetry.opened({ ...where, batches, rows, bytes, quarantinedBatches, setAsideFiles });
}

function isUnusable(state: RecordState): state is 'absent' | 'damaged' | 'foreign' {
  return state !== 'read' && state !== 'new';
}
