/**
 * The order in which logs arrive: by time of receipt, then batch, then row. A log that is stored
 * late, or carries an old time of its own, still comes last. Plain data and its text form; it knows
 * neither SQL nor the wire.
 */
import type { LogFilter, LogRecord } from './plan.ts';

/** A place in the order of arrival: at this row of this batch. */
export interface ArrivalPosition {
  /** Unix ns, 0 … 2^63-1. */
  readonly receivedAtNanos: bigint;
  /** writer << 64 | sequence. */
  readonly batch: bigint;
  readonly row: number;
}

/** A stretch of the order of arrival, under a filter. */
export interface ArrivalRange {
  readonly filter: LogFilter;
  /** Logs strictly after this. */
  readonly after: ArrivalPosition;
  /** Unix ns; logs received then or before. */
  readonly untilNanos: bigint;
}

export interface ArrivalsPlan extends ArrivalRange {
  readonly limit: number;
  /** About how much the logs may take together, bytes; a single log may be larger. */
  readonly maxBytes: number;
}

export interface ArrivedLog {
  readonly position: ArrivalPosition;
  readonly log: LogRecord;
}

export interface Arrivals {
  /** In order of arrival. */
  readonly logs: readonly ArrivedLog[];
  /** False where the range may hold more than fits. */
  readonly isComplete: boolean;
}

const maxNanos = (1n << 63n) - 1n;
const maxBatch = (1n << 128n) - 1n;
const maxRow = 2 ** 32 - 1;

/** After everything that was received then or before. */
export function arrivalsUntil(nanos: bigint): ArrivalPosition {
  return { receivedAtNanos: nanos, batch: maxBatch, row: maxRow };
}

/** `<receivedAtNanos>.<batch as 32 hex digits>.<row>` */
export function encodeArrival({ receivedAtNanos, batch, row }: ArrivalPosition): string {
  return `${receivedAtNanos}.${batch.toString(16).padStart(32, '0')}.${row}`;
}

const positionPattern = /^(\d{1,19})\.([0-9a-f]{32})\.(\d{1,10})$/;

/** @returns undefined for text that `encodeArrival` does not make. */
export function decodeArrival(text: string): ArrivalPosition | undefined {
  const [, nanos, batch, rowText] = positionPattern.exec(text) ?? [];
  if (nanos === undefined || batch === undefined) return undefined;
  const receivedAtNanos = BigInt(nanos);
  const row = Number(rowText);
  if (receivedAtNanos > maxNanos || row > maxRow) return undefined;
  return { receivedAtNanos, batch: BigInt(`0x${batch}`), row };
}
