/**
 * Windows of event time that the list and the walk of an export read one after the other, so that a
 * page of recent logs reads little of a long history, and a sparse search reads each row once.
 * Pure; it knows no SQL.
 */
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan, LogFilter, WalkPlan, WalkPoint } from '../../model/plan.ts';

/** Half-open [from, until) in Unix ns; undefined = unbounded. */
export interface TimeWindow {
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
}

const secondNanos = 1_000_000_000n;
const firstWidthNanos = 10n * secondNanos;
/** Later than any event time (2149). */
const maxTimeNanos = 5_700_000_000n * secondNanos;

const listGrowth = 32n;
/** Beyond this, one window for the rest of history is faster than further steps. */
const maxListWidthNanos = 100n * 86_400n * secondNanos;

/** The range of the plan in disjoint windows without gaps, in the direction of the plan. */
export function listWindows(plan: ListPlan, nowNanos: bigint): Generator<TimeWindow> {
  return plan.direction === 'older' ? olderWindows(plan, nowNanos) : newerWindows(plan);
}

/** Back to the start of the range, or else to 1970. */
function* olderWindows(plan: ListPlan, nowNanos: bigint): Generator<TimeWindow> {
  const fromNanos = plan.filter.fromNanos ?? 0n;
  let untilNanos = least(plan.filter.untilNanos, after(plan.position?.timeNanos));
  if (untilNanos !== undefined && untilNanos <= fromNanos) return;
  let edge = least(untilNanos, nowNanos)!;
  for (let width = firstWidthNanos; ; width *= listGrowth) {
    edge -= width;
    if (edge <= fromNanos || width > maxListWidthNanos) break;
    yield { fromNanos: edge, untilNanos };
    untilNanos = edge;
  }
  yield { fromNanos, untilNanos };
}

/** Up to the watermark or the end of the range, whichever is first. */
function* newerWindows(plan: ListPlan): Generator<TimeWindow> {
  const untilNanos = least(plan.filter.untilNanos, after(plan.untilWatermarkNanos));
  let fromNanos = plan.filter.fromNanos ?? 0n;
  if (plan.position !== undefined && plan.position.timeNanos > fromNanos) {
    fromNanos = plan.position.timeNanos;
  }
  for (let width = firstWidthNanos; ; width *= listGrowth) {
    const edge = fromNanos + width;
    if (edge >= (untilNanos ?? maxTimeNanos)) break;
    yield { fromNanos, untilNanos: edge };
    fromNanos = edge;
  }
  if (untilNanos === undefined || fromNanos < untilNanos) yield { fromNanos, untilNanos };
}

/** The end of a half-open range that includes `nanos`. */
function after(nanos: bigint | undefined): bigint | undefined {
  return nanos === undefined ? undefined : nanos + 1n;
}

/** Result size that a step of a walk aims at, and the largest of a step of several rows. */
const targetBytes = 4 * 1024 * 1024;
export const maxStepBytes = 16 * 1024 * 1024;

const firstRows = 16;
const maxRows = 8_192;
const minWidthNanos = secondNanos;
const maxWalkWidthNanos = 10_000_000_000n * secondNanos;

export const walkStart: WalkPoint = {
  position: undefined,
  untilNanos: undefined,
  widthNanos: firstWidthNanos,
  maxWidthNanos: maxWalkWidthNanos,
  rows: firstRows,
};

/** The window that the next statement reads; undefined = the walk is at its end. */
export function walkWindow(
  filter: LogFilter,
  point: WalkPoint,
  nowNanos: bigint,
): TimeWindow | undefined {
  const fromNanos = filter.fromNanos ?? 0n;
  const untilNanos = least(filter.untilNanos, point.untilNanos);
  if (untilNanos !== undefined && untilNanos <= fromNanos) return undefined;
  const edge = least(untilNanos, nowNanos)! - point.widthNanos;
  return { fromNanos: edge > fromNanos ? edge : fromNanos, untilNanos };
}

/** The result of a statement. */
interface WalkResult {
  readonly window: TimeWindow;
  readonly rows: number;
  /** Estimated. */
  readonly bytes: number;
  /** Position of the oldest log; undefined = no rows. */
  readonly last: LogPosition | undefined;
}

/** @returns undefined once there is nothing older. */
export function walkOn(
  { filter, limit }: Pick<WalkPlan, 'filter' | 'limit'>,
  point: WalkPoint,
  result: WalkResult,
  nowNanos: bigint,
): WalkPoint | undefined {
  const { window, last } = result;
  const rows = nextRows(point.rows, result);
  if (last !== undefined && result.rows >= Math.min(limit, point.rows)) {
    const span = least(window.untilNanos, nowNanos)! - last.timeNanos;
    const widthNanos = clamp(2n * span, point.maxWidthNanos);
    return { ...point, rows, widthNanos, position: last, untilNanos: last.timeNanos + 1n };
  }
  const untilNanos = window.fromNanos!;
  if (untilNanos <= (filter.fromNanos ?? 0n)) return undefined;
  // Logs may be sparser further back, so the cap grows again.
  const maxWidthNanos = clamp((5n * point.maxWidthNanos) / 4n, maxWalkWidthNanos);
  const widthNanos = clamp(4n * point.widthNanos, maxWidthNanos);
  return { ...point, rows, widthNanos, maxWidthNanos, position: undefined, untilNanos };
}

/** After a statement over a limit; undefined = a smaller one is not possible. */
export function walkSlower(point: WalkPoint, limit: 'size' | 'effort'): WalkPoint | undefined {
  if (limit === 'size') {
    return point.rows === 1 ? undefined : { ...point, rows: Math.ceil(point.rows / 8) };
  }
  const widthNanos = point.widthNanos / 4n;
  if (widthNanos < minWidthNanos) return undefined;
  return { ...point, widthNanos, maxWidthNanos: widthNanos };
}

/** Rows of the target size if they are like the last ones; at most four times as many. */
function nextRows(requested: number, { rows, bytes }: WalkResult): number {
  if (rows === 0) return requested;
  const fitting = Math.floor((targetBytes * rows) / bytes);
  return Math.max(1, Math.min(fitting, requested * 4, maxRows));
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined) return b;
  return b === undefined || a < b ? a : b;
}

function clamp(widthNanos: bigint, maxNanos: bigint): bigint {
  if (widthNanos < minWidthNanos) return minWidthNanos;
  return widthNanos > maxNanos ? maxNanos : widthNanos;
}
