/** Decides whether the queue takes another batch, and why not. */
import { AppError } from '../../model/errors.ts';
import { type DiskQueueSettings, maxUnsyncedBatches } from './log-directory.ts';

export interface Refusal {
  readonly reason: 'failed' | 'disk' | 'backlog' | 'busy';
  /** For the operator. */
  readonly detail: string;
}

export interface Load {
  readonly isClosed: boolean;
  readonly failure: Error | undefined;
  /** Appends that are not synced yet. */
  readonly pendingBatches: number;
  /** Not released, pending appends included. */
  readonly bytes: number;
}

const remeasureAfterMs = 1000;
const remeasureAfterBytes = 64 * 1024 * 1024;

export class Capacity {
  readonly #maxBacklogBytes: number;
  readonly #minFreeBytes: number;
  readonly #now: () => number;
  #freeBytes: number;
  #measuredAtMs: number;
  #writtenSince = 0;
  #isMeasuring = false;

  /** @param freeBytes of the disk, just measured */
  constructor(settings: DiskQueueSettings, freeBytes: number, now: () => number) {
    this.#maxBacklogBytes = settings.maxBacklogBytes || Number.POSITIVE_INFINITY;
    // A restart copies a segment.
    this.#minFreeBytes = Math.max(settings.minFreeDiskBytes, 2 * settings.segmentBytes);
    this.#now = now;
    this.#freeBytes = freeBytes;
    this.#measuredAtMs = now();
  }

  /** Counts bytes that are about to be written. */
  add(bytes: number): void {
    this.#writtenSince += bytes;
  }

  measured(freeBytes: number): void {
    this.#freeBytes = freeBytes;
    this.#measuredAtMs = this.#now();
    this.#writtenSince = 0;
  }

  /** Measures the disk in the background where the last measurement is stale. */
  refresh(measure: () => Promise<number>): void {
    const isStale =
      Math.abs(this.#now() - this.#measuredAtMs) >= remeasureAfterMs ||
      this.#writtenSince >= remeasureAfterBytes;
    if (this.#isMeasuring || !isStale) return;
    this.#isMeasuring = true;
    const measured = (freeBytes: number) => {
      this.#isMeasuring = false;
      this.measured(freeBytes);
    };
    // A disk that cannot be measured has no room.
    measure().then(measured, () => measured(0));
  }

  refusal({ isClosed, failure, pendingBatches, bytes }: Load): Refusal | undefined {
    if (isClosed) return { reason: 'failed', detail: 'the queue is closed' };
    if (failure !== undefined) {
      return { reason: 'failed', detail: `a write failed, weir restarts: ${failure.message}` };
    }
    if (pendingBatches >= maxUnsyncedBatches) {
      return { reason: 'busy', detail: `${pendingBatches} batches wait for the disk` };
    }
    if (bytes >= this.#maxBacklogBytes) {
      const detail = `the backlog is at its cap of ${this.#maxBacklogBytes} bytes`;
      return { reason: 'backlog', detail };
    }
    const missing = this.#minFreeBytes - (this.#freeBytes - this.#writtenSince);
    if (missing <= 0) return undefined;
    const detail = `${missing} bytes short of the ${this.#minFreeBytes} that must stay free`;
    return { reason: 'disk', detail: `${detail} on disk` };
  }
}

export function toUnavailable({ reason, detail }: Refusal): AppError {
  return new AppError('unavailable', 'cannot accept data for now: the queue has no room', {
    cause: new Error(detail),
    retryAfterSeconds: reason === 'busy' ? 2 : 3,
  });
}
