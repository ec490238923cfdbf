/** Errors of JetStream, as one of a few kinds. */
import { JetStreamApiError } from '@nats-io/jetstream';
import { AppError } from '../../model/errors.ts';
import { messageOf } from '../../std/error-text.ts';

/** JetStream's error codes (nats-server, server/errors.json). */
export const errorCodes = {
  /** Too few servers, or not seen yet. */
  noPeers: 10005,
  consumerNotFound: 10014,
  insufficientResources: 10023,
  memoryExceeded: 10028,
  storageExceeded: 10047,
  nameInUse: 10058,
  streamNotFound: 10059,
  subjectOverlap: 10065,
  wrongLastSequence: 10071,
  replicasNotSupported: 10074,
  /** The stream is at max_bytes, or its disk fails. */
  storeFailed: 10077,
  /** A work queue stream has a consumer already: without a filter, and with one. */
  workIsConsumed: 10099,
  workIsConsumedFiltered: 10100,
  /** An earlier attempt under the same message id is not stored yet. */
  duplicateInProcess: 10158,
  /** Newer servers' `wrongLastSequence` for a create. */
  wrongLastSequenceConstant: 10164,
} as const;

export function hasCode(error: unknown, ...codes: number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

export type FaultKind =
  /** The connection broke, or there is none. */
  | 'disconnected'
  /** No response in time. */
  | 'timeout'
  /** No stream takes the subject: JetStream is off, or the stream is missing. */
  | 'no_stream'
  /** No leader, too few servers, or an earlier attempt is still under way. */
  | 'not_ready'
  /** The stream is at its limit, or JetStream has no room. */
  | 'full'
  /** Any other error of the server, e.g. a missing permission. */
  | 'refused';

/** A request without acknowledgement; its message may be stored anyway. */
export class PublishFault extends Error {
  override readonly name = 'PublishFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** Whether the next attempt may succeed. */
  get isTransient(): boolean {
    return this.kind !== 'full' && this.kind !== 'refused';
  }
}

export function toPublishFault(error: unknown): PublishFault {
  if (error instanceof PublishFault) return error;
  return new PublishFault(kindOf(error), messageOf(error), { cause: error });
}

/** The error for a request whose batch the queue did not take. */
export function queueUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'cannot accept data for now: the queue is not available', {
    cause,
    retryAfterSeconds: 1,
  });
}

const kindsByName: Readonly<Record<string, FaultKind>> = {
  TimeoutError: 'timeout',
  JetStreamNotEnabled: 'no_stream',
  ClosedConnectionError: 'disconnected',
  DrainingConnectionError: 'disconnected',
};

function kindOf(error: unknown): FaultKind {
  const { insufficientResources, memoryExceeded, storageExceeded, storeFailed } = errorCodes;
  if (hasCode(error, insufficientResources, memoryExceeded, storageExceeded, storeFailed)) {
    return 'full';
  }
  if (hasCode(error, errorCodes.duplicateInProcess)) return 'not_ready';
  if (error instanceof JetStreamApiError) return error.status === 503 ? 'not_ready' : 'refused';
  return (error instanceof Error && kindsByName[error.name]) || 'refused';
}
