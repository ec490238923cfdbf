/** Why JetStream did not acknowledge a message, as one of a few kinds. Pure. */
import { JetStreamApiError } from '@nats-io/jetstream';
import { AppError } from '../../model/errors.ts';
import { errorCodes } from './error-codes.ts';
import { messageOf } from '../../std/error-text.ts';

export type FaultKind =
  /** The connection broke, or there is none. */
  | 'disconnected'
  /** No answer in time. */
  | 'timeout'
  /** Nothing takes this subject: JetStream is off, or the stream is gone. */
  | 'no_stream'
  /** It has no leader, or not enough servers. */
  | 'not_ready'
  /** The stream is at its limit, or JetStream has no room. */
  | 'full'
  /** Anything else that it says no to, a missing permission for one. */
  | 'refused';

/** One attempt to publish that was not acknowledged; what was sent may be stored all the same. */
export class PublishFault extends Error {
  override readonly name = 'PublishFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** Whether the next attempt may fare better. */
  get isPassing(): boolean {
    return this.kind !== 'full' && this.kind !== 'refused';
  }
}

const fullCodes = new Set<number>([
  errorCodes.insufficientResources,
  errorCodes.memoryExceeded,
  errorCodes.storageExceeded,
  errorCodes.storeFailed,
]);

export function toPublishFault(error: unknown): PublishFault {
  if (error instanceof PublishFault) return error;
  const message = messageOf(error);
  return new PublishFault(kindOf(error), message, { cause: error });
}

/** What a request is answered with whose batch found no place. */
export function queueUnavailable(cause: unknown, retryAfterSeconds = 1): AppError {
  return new AppError('unavailable', 'cannot take in data for now: the queue is not available', {
    cause,
    retryAfterSeconds,
  });
}

function kindOf(error: unknown): FaultKind {
  if (error instanceof JetStreamApiError) {
    if (fullCodes.has(error.code)) return 'full';
    return error.status === 503 ? 'not_ready' : 'refused';
  }
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return 'timeout';
  if (name === 'JetStreamNotEnabled') return 'no_stream';
  return name === 'ClosedConnectionError' || name === 'DrainingConnectionError'
    ? 'disconnected'
    : 'refused';
}
