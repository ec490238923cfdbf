/**
 * Opens the queue on local disk. The caller holds the lock on the directory; nothing else may touch
 * it meanwhile.
 */
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { DiskQueue } from './disk-queue.ts';
import type { FileSystem } from '../../files/file-system.ts';
import { openInlineHost } from './log-host.ts';
import type { LogOptions, RecordState, Recovery } from './log-options.ts';
import { openThreadHost } from './thread-host.ts';

export interface DiskQueueOptions {
  /** Made where absent; holds nothing but the queue. */
  readonly directory: string;
  /** A segment is finished before it would grow beyond this; default 64 MiB. */
  readonly segmentBytes?: number;
  /**
   * Appends are refused below so many free bytes, or two segments where that is more; default 1
   * GiB.
   */
  readonly minFreeDiskBytes?: number;
  /** Appends are refused beyond so many bytes not yet released; default 64 GiB. */
  readonly maxBacklogBytes?: number;
  /** Larger payloads are refused as too large; default 128 MiB. */
  readonly maxBatchBytes?: number;
  /** The newest batches are kept in memory up to so many bytes; default 96 MiB. */
  readonly memoryTailBytes?: number;
  /** Answers are remembered so long, default 24 h, */
  readonly idempotencyTtlMs?: number;
  /** and so many of them, default 1,000,000. */
  readonly idempotencyKeys?: number;
  /** Called once, when a write or a sync has failed for good: only another process can go on. */
  readonly onFailed?: (error: Error) => void;
  /** Runs the log on this file system and in the calling thread; for tests. */
  readonly fileSystem?: FileSystem;
  /** Unix ms; for tests. */
  readonly now?: () => number;
}

const defaults = {
  segmentBytes: 64 * 1024 * 1024,
  minFreeDiskBytes: 1024 * 1024 * 1024,
  maxBacklogBytes: 64 * 1024 * 1024 * 1024,
  maxBatchBytes: 128 * 1024 * 1024,
  memoryTailBytes: 96 * 1024 * 1024,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  idempotencyKeys: 1_000_000,
  now: Date.now,
};

/** @throws Error where a newer version wrote the directory, or where the disk refuses. */
export async function openDiskQueue(
  options: DiskQueueOptions,
  telemetry: QueueEvents,
): Promise<DiskQueue> {
  const limits = { ...defaults, ...options };
  const { directory, segmentBytes, idempotencyTtlMs, idempotencyKeys } = limits;
  const logOptions: LogOptions = { directory, segmentBytes, idempotencyTtlMs, idempotencyKeys };
  const startedAtMs = limits.now();
  const opened =
    options.fileSystem === undefined
      ? await openThreadHost(logOptions)
      : openInlineHost(options.fileSystem, logOptions);
  report(opened.recovery, { directory, durationMs: limits.now() - startedAtMs }, telemetry);
  const minFreeDiskBytes = Math.max(limits.minFreeDiskBytes, 2 * segmentBytes);
  const queue = new DiskQueue(opened, { ...limits, minFreeDiskBytes }, telemetry);
  telemetry.watch(() => queue.status());
  return queue;
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
