/** When the log takes no batch, and how the sender and the operator learn it. Pure. */
import { AppError } from '../../model/errors.ts';
import { maxUnsyncedBatches } from './log-options.ts';
import type { QueueLimits } from './queue-limits.ts';

export interface Refusal {
  readonly reason: 'failed' | 'disk' | 'backlog' | 'busy';
  /** For the operator. */
  readonly detail: string;
}

export interface QueueState {
  readonly isClosed: boolean;
  readonly failure: Error | undefined;
  /** Appends that are not synced yet. */
  readonly pendingBatches: number;
  /** Not released, appends under way included. */
  readonly bytes: number;
  /** By which the free disk falls short of what must stay free. */
  readonly missingDiskBytes: number;
}

export function refusalOf(
  state: QueueState,
  limits: Pick<QueueLimits, 'maxBacklogBytes' | 'minFreeDiskBytes'>,
): Refusal | undefined {
  const { isClosed, failure, pendingBatches, bytes, missingDiskBytes } = state;
  const { maxBacklogBytes, minFreeDiskBytes } = limits;
  if (isClosed) return { reason: 'failed', detail: 'the queue is closed' };
  if (failure !== undefined) {
    return { reason: 'failed', detail: `a write failed, weir restarts: ${failure.message}` };
  }
  if (pendingBatches >= maxUnsyncedBatches) {
    return { reason: 'busy', detail: `${pendingBatches} batches wait for the disk` };
  }
  if (bytes >= maxBacklogBytes) {
    return { reason: 'backlog', detail: `the backlog is at its cap of ${maxBacklogBytes} bytes` };
  }
  if (missingDiskBytes === 0) return undefined;
  const detail = `${missingDiskBytes} bytes short of the ${minFreeDiskBytes} that must stay free`;
  return { reason: 'disk', detail: `${detail} on disk` };
}

export function toUnavailable({ reason, detail }: Refusal): AppError {
  return new AppError('unavailable', 'cannot take in data for now: the queue has no room', {
    cause: new Error(detail),
    retryAfterSeconds: reason === 'busy' ? 2 : 3,
  });
}
