/**
 * The time of reads: how long each took, and how much is left to one that runs several statements.
 */
import type { ReadKind, StoreEvents } from '../telemetry/store-events.ts';
import { overLimit, toReadError } from './failures.ts';
import type { ReadLimits } from './sql/statement.ts';

/** @throws AppError, whatever the read threw. */
export async function timed<Result>(
  events: StoreEvents,
  kind: ReadKind,
  read: Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  try {
    const result = await read;
    events.read(kind, secondsSince(startedAt));
    return result;
  } catch (cause) {
    const error = toReadError(cause);
    // Nobody waits for it any more: no failure.
    if (isAbort(cause)) events.read(kind, secondsSince(startedAt));
    else events.readFailed(kind, secondsSince(startedAt), error);
    throw error;
  }
}

function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'AbortError';
}

/** One time limit for all statements of a read together. */
export interface ReadTime {
  /** The limits of the next statement. @throws AppError when no time is left */
  left(): ReadLimits;
}

export function startReadTime(limits: ReadLimits): ReadTime {
  const startedAt = performance.now();
  return {
    left() {
      const maxSeconds = limits.maxSeconds - secondsSince(startedAt);
      if (maxSeconds < 0.001) throw overLimit(undefined);
      return { ...limits, maxSeconds };
    },
  };
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
