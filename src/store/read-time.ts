/** Times reads, and shares the time limit of a read between its statements. */
import type { ReadKind, StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { overLimit, toReadError } from './failures.ts';
import type { ReadLimits } from './sql/statement.ts';

export interface ReaderParts {
  readonly connection: Connection;
  readonly database: string;
  readonly events: StoreEvents;
  readonly limits: ReadLimits;
}

/** @throws AppError for any error of the read */
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
    // A reader that disconnects is not a failure.
    const isAbort = cause instanceof DOMException && cause.name === 'AbortError';
    if (isAbort) events.read(kind, secondsSince(startedAt));
    else events.readFailed(kind, secondsSince(startedAt), error);
    throw error;
  }
}

export type ReadTime = ReturnType<typeof startReadTime>;

export function startReadTime(limits: ReadLimits) {
  const startedAt = performance.now();
  return {
    /** The limits of the next statement. @throws AppError when no time is left */
    left(): ReadLimits {
      const maxSeconds = limits.maxSeconds - secondsSince(startedAt);
      if (maxSeconds < 0.001) throw overLimit(undefined);
      return { ...limits, maxSeconds };
    },
  };
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
