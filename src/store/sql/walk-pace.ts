/**
 * The pace of a walk back through everything that matches: how much of history a statement looks
 * at, and how many logs it asks for, so that an answer has a few MiB and takes a fraction of a
 * second however dense the logs and however large their messages. Pure; it knows no SQL.
 */
import type { LogPosition } from '../../model/log-id.ts';
import type { LogFilter, WalkPlan, WalkPoint } from '../../model/plan.ts';
import type { TimeWindow } from './list-windows.ts';

/** What a statement should answer with. */
const aimBytes = 4 * 1024 * 1024;
/** What a statement of more than one row may answer with. */
export const maxStepBytes = 16 * 1024 * 1024;

const firstRows = 16;
const maxRows = 8_192;
const secondNanos = 1_000_000_000n;
const firstWidthNanos = 10n * secondNanos;
const leastWidthNanos = secondNanos;
/** More than there is of time. */
const lastWidthNanos = 10_000_000_000n * secondNanos;

export const walkStart: WalkPoint = {
  position: undefined,
  untilNanos: undefined,
  widthNanos: firstWidthNanos,
  maxWidthNanos: lastWidthNanos,
  rows: firstRows,
};

/** The part of history that the next statement looks at; undefined = nothing is left. */
export function walkWindow(
  filter: LogFilter,
  point: WalkPoint,
  nowNanos: bigint,
): TimeWindow | undefined {
  const fromNanos = filter.fromNanos ?? 0n;
  const untilNanos = least(filter.untilNanos, point.untilNanos);
  if (untilNanos !== undefined && untilNanos <= fromNanos) return undefined;
  const edge = startOf(untilNanos, nowNanos) - point.widthNanos;
  return { fromNanos: edge > fromNanos ? edge : fromNanos, untilNanos };
}

/** What the statement found. */
export interface Found {
  readonly window: TimeWindow;
  readonly rows: number;
  /** Estimated. */
  readonly bytes: number;
  /** Of the oldest log; undefined = it found none. */
  readonly last: LogPosition | undefined;
}

/** @returns undefined once there is nothing older. */
export function walkOn(
  { filter, limit }: Pick<WalkPlan, 'filter' | 'limit'>,
  point: WalkPoint,
  found: Found,
  nowNanos: bigint,
): WalkPoint | undefined {
  const { window, last } = found;
  const rows = nextRows(point.rows, found);
  if (last !== undefined && found.rows >= Math.min(limit, point.rows)) {
    const span = startOf(window.untilNanos, nowNanos) - last.timeNanos;
    const widthNanos = clamp(2n * span, leastWidthNanos, point.maxWidthNanos);
    return { ...point, rows, widthNanos, position: last, untilNanos: last.timeNanos + 1n };
  }
  const untilNanos = window.fromNanos!;
  if (untilNanos <= (filter.fromNanos ?? 0n)) return undefined;
  // What was too much once need not be so further back: the cap is tried again, by and by.
  const maxWidthNanos = clamp((5n * point.maxWidthNanos) / 4n, leastWidthNanos, lastWidthNanos);
  const widthNanos = clamp(4n * point.widthNanos, leastWidthNanos, maxWidthNanos);
  return { ...point, rows, widthNanos, maxWidthNanos, position: undefined, untilNanos };
}

/** After a statement that was too much; undefined = less is not possible. */
export function walkSlower(point: WalkPoint, limit: 'size' | 'effort'): WalkPoint | undefined {
  if (limit === 'size') {
    return point.rows === 1 ? undefined : { ...point, rows: Math.ceil(point.rows / 8) };
  }
  const widthNanos = point.widthNanos / 4n;
  if (widthNanos < leastWidthNanos) return undefined;
  return { ...point, widthNanos, maxWidthNanos: widthNanos };
}

/** As many as have the size aimed at, if they are like the last; more only by and by. */
function nextRows(asked: number, { rows, bytes }: Found): number {
  if (rows === 0) return asked;
  const fitting = Math.floor((aimBytes * rows) / bytes);
  return Math.max(1, Math.min(fitting, asked * 4, maxRows));
}

/** Where a window is measured from: logs of the future all stand in the first. */
function startOf(untilNanos: bigint | undefined, nowNanos: bigint): bigint {
  return least(untilNanos, nowNanos)!;
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined) return b;
  return b === undefined || a < b ? a : b;
}

function clamp(value: bigint, low: bigint, high: bigint): bigint {
  if (value < low) return low;
  return value > high ? high : value;
}
