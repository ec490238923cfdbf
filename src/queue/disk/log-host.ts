/**
 * Where a log runs: in the thread that asks, or in one of its own. The queue sees one set of calls,
 * each answered by a promise, and does not know which it is.
 */
import type { BatchId } from '../../model/batch.ts';
import type { FileSystem } from '../../files/file-system.ts';
import { openLog, type SegmentLog } from './log.ts';
import type { LogOptions, ReadRequest, ReadResult, Recovery } from './log-options.ts';

/** The calls of a log as they are made across threads. ArrayBuffers change hands both ways. */
export interface LogCalls {
  /** Appends the first `length` bytes. @returns the buffer, to be filled again. */
  append(buffer: ArrayBuffer, length: number): ArrayBuffer;
  read(request: ReadRequest): ReadResult;
  holds(ids: readonly BatchId[]): boolean[];
  release(sequence: bigint, floorNanos: bigint): void;
  /** @returns the number of batches set aside so far. */
  quarantine(frame: Uint8Array<ArrayBuffer>, reason: string): number;
  freeBytes(): number;
  /** @param floorNanos as for `release`. */
  close(floorNanos: bigint): void;
}

export type LogHost = {
  readonly [Name in keyof LogCalls]: (
    ...input: Parameters<LogCalls[Name]>
  ) => Promise<ReturnType<LogCalls[Name]>>;
};

export interface OpenedHost {
  readonly host: LogHost;
  readonly recovery: Recovery;
}

export function createLogCalls(log: SegmentLog): LogCalls {
  return {
    append(buffer, length) {
      log.append(Buffer.from(buffer, 0, length));
      return buffer;
    },
    read: (request) => log.read(request),
    holds: (ids) => log.holds(ids),
    release: (sequence, floorNanos) => log.release(sequence, floorNanos),
    quarantine: (frame, reason) =>
      log.quarantine(Buffer.from(frame.buffer, frame.byteOffset, frame.length), reason),
    freeBytes: () => log.freeBytes(),
    close: (floorNanos) => log.close(floorNanos),
  };
}

/**
 * Runs the log in the calling thread, which waits for the disk on every call. For tests and tools.
 */
export function openInlineHost(fs: FileSystem, options: LogOptions): OpenedHost {
  const { log, recovery } = openLog(fs, options);
  const calls = createLogCalls(log);
  const host: LogHost = {
    append: async (buffer, length) => calls.append(buffer, length),
    read: async (request) => calls.read(request),
    holds: async (ids) => calls.holds(ids),
    release: async (sequence, floorNanos) => calls.release(sequence, floorNanos),
    quarantine: async (frame, reason) => calls.quarantine(frame, reason),
    freeBytes: async () => calls.freeBytes(),
    close: async (floorNanos) => calls.close(floorNanos),
  };
  return { host, recovery };
}
