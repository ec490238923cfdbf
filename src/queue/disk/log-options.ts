/** What the log is opened with, and the plain values that cross between threads. */
import type { Config } from '../../config/schema.ts';
import type { QueueDamage } from '../../telemetry/queue-events.ts';

export interface DiskQueueSettings
  extends Pick<
    Config['queue'],
    | 'segmentBytes'
    | 'minFreeDiskBytes'
    | 'maxBacklogBytes'
    | 'memoryTailBytes'
    | 'idempotencyTtlHours'
    | 'idempotencyKeys'
  > {
  /** Created where absent; holds nothing but the queue. */
  readonly directory: string;
}

/** Most batches that may wait for a sync; sequences skip as many at every start. */
export const maxUnsyncedBatches = 65_536;

/** `new`: absent, like everything else in the directory. */
export type RecordState = 'read' | 'new' | 'absent' | 'damaged' | 'foreign';

/** What opening the log found. */
export interface Recovery {
  readonly writer: bigint;
  readonly nextSequence: bigint;
  /** Later batches are stamped after this; Unix ns. */
  readonly floorNanos: bigint;
  readonly released: bigint;
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  /** Receive time of the oldest batch not released; undefined when there is none. */
  readonly oldestNanos: bigint | undefined;
  readonly damage: readonly QueueDamage[];
  /** Names of files that do not belong to this log. */
  readonly foreign: readonly string[];
  readonly checkpoint: RecordState;
  /** Without the mark a torn end looks like lost batches. */
  readonly syncedMark: RecordState;
  readonly quarantinedBatches: number;
  /** Files of bytes without a readable batch. */
  readonly setAsideFiles: number;
  readonly freeBytes: number;
  /** Chunks of remembered idempotency keys, oldest first. */
  readonly keyChunks: readonly Uint8Array<ArrayBuffer>[];
}

export interface ReadRequest {
  readonly fromSequence: bigint;
  /** Exclusive. */
  readonly untilSequence: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface ReadResult {
  /** Intact frames in order; empty only when all before `untilSequence` were read. */
  readonly frames: readonly Uint8Array<ArrayBuffer>[];
  readonly damage: readonly QueueDamage[];
}
