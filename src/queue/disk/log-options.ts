/** What the log is opened with, and the plain values that cross between threads. */
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';

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

/**
 * At most so many batches may be on their way to disk at once; sequences skip as many after every
 * start.
 */
export const maxUnsyncedBatches = 65_536;

/** A stretch of the log that holds no readable batch. */
export interface Damage {
  /**
   * `torn`: the end of what an unclean stop left, which is not known to have been acknowledged;
   * `corrupt`: bytes that were synced and are not what was written;
   * `missing`: bytes that were synced and are gone, or a whole segment;
   * `keys`: idempotency keys that were synced and cannot be read, no batches.
   */
  readonly kind: 'torn' | 'corrupt' | 'missing' | 'keys';
  /** Name of the file. */
  readonly segment: string;
  readonly offset: number;
  readonly bytes: number;
  /** First and last sequence that may have been lost, both inclusive. */
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
  /** Acknowledged batches that are lost; undefined where that is not known. */
  readonly batches: number | undefined;
  /** Where the bytes were set aside; empty where they were not. */
  readonly setAside: string;
}

/** `new`: absent, and so is everything else. */
export type RecordState = 'read' | 'new' | 'absent' | 'damaged' | 'foreign';

/** What opening the log found. */
export interface Recovery {
  readonly writer: bigint;
  readonly nextSequence: bigint;
  /** No later batch may be stamped at or before this; Unix ns. */
  readonly floorNanos: bigint;
  readonly released: bigint;
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  /** Receive time of the oldest batch not released; undefined when there is none. */
  readonly oldestNanos: bigint | undefined;
  readonly damage: readonly Damage[];
  /** Names of files that are none of this log's. */
  readonly foreign: readonly string[];
  readonly checkpoint: RecordState;
  /** Of the record of what was synced: without it a torn end cannot be told from lost batches. */
  readonly syncedMark: RecordState;
  readonly quarantinedBatches: number;
  /** Files with bytes that held no readable batch. */
  readonly setAsideFiles: number;
  readonly freeBytes: number;
  /** Chunks of remembered idempotency keys, oldest first. */
  readonly keyChunks: readonly Uint8Array<ArrayBuffer>[];
}

export interface ReadRequest {
  /** First sequence wanted, and the one to stop before. */
  readonly fromSequence: bigint;
  readonly untilSequence: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface ReadResult {
  /** Intact frames in order; empty only when all before `untilSequence` were read. */
  readonly frames: readonly Uint8Array<ArrayBuffer>[];
  readonly damage: readonly Damage[];
}

export interface LogPaths {
  readonly root: string;
  readonly identity: string;
  readonly checkpoint: string;
  readonly syncedMark: string;
  readonly segments: string;
  readonly keys: string;
  readonly quarantine: string;
}

export function pathsOf(directory: string): LogPaths {
  return {
    root: directory,
    identity: join(directory, 'identity'),
    checkpoint: join(directory, 'checkpoint'),
    syncedMark: join(directory, 'synced'),
    segments: join(directory, 'segments'),
    keys: join(directory, 'keys'),
    quarantine: join(directory, 'quarantine'),
  };
}
