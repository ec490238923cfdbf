/**
 * The order of arrival: by time of receipt, then batch, then row. A log that is stored late or has
 * an old timestamp still comes last. Plain data and its text form.
 */
import type { LogFilter, LogRecord, ReadableStream } from './plan.ts';

/** A position in the order of arrival. */
export interface ArrivalPosition {
  /** Unix ns, 0 … 2^63-1. */
  readonly receivedAtNanos: bigint;
  /** writer << 64 | sequence. */
  readonly batch: bigint;
  readonly row: number;
}

/** A range of the order of arrival, with a filter. */
export interface ArrivalRange {
  readonly filter: LogFilter;
  /** Exclusive. */
  readonly after: ArrivalPosition;
  /** Unix ns, inclusive time of receipt. */
  readonly untilNanos: bigint;
}

export interface ArrivalsPlan extends ArrivalRange {
  readonly limit: number;
  /** Approximate maximum of bytes; a single log may be larger. */
  readonly maxBytes: number;
}

export interface ArrivedLog {
  readonly position: ArrivalPosition;
  readonly log: LogRecord;
}

export interface Arrivals {
  /** In order of arrival. */
  readonly logs: readonly ArrivedLog[];
  /** False when the range may have more logs than fit. */
  readonly isComplete: boolean;
}

/** Rows of a stream with these times that were received from a time on. */
export interface LateRange {
  readonly accountId: string;
  readonly stream: ReadableStream;
  readonly table: 'logs' | 'samples';
  /** Unix ms, half-open. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Unix ms. */
  readonly receivedFromMs: number;
}

const maxNanos = (1n << 63n) - 1n;
const maxBatch = (1n << 128n) - 1n;
const maxRow = 2 ** 32 - 1;

/** The position after everything received up to this time. */
export function arrivalsUntil(nanos: bigint): ArrivalPosition {
  return { receivedAtNanos: nanos, batch: maxBatch, row: maxRow };
}

/** `<receivedAtNanos>.<batch as 32 hex digits>.<row>` */
export function encodeArrival({ receivedAtNanos, batch, row }: ArrivalPosition): string {
  return `${receivedAtNanos}.${batch.toString(16).padStart(32, '0')}.${row}`;
}

const positionPattern = /^(\d{1,19})\.([0-9a-f]{32})\.(\d{1,10})$/;

/** @returns undefined unless `text` was made by `encodeArrival` */
export function decodeArrival(text: string): ArrivalPosition | undefined {
  const [, nanos, batch, rowText] = positionPattern.exec(text) ?? [];
  if (nanos === undefined || batch === undefined) return undefined;
  const receivedAtNanos = BigInt(nanos);
  const row = Number(rowText);
  if (receivedAtNanos > maxNanos || row > maxRow) return undefined;
  return { receivedAtNanos, batch: BigInt(`0x${batch}`), row };
}
