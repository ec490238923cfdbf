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

/** Rows of the streams of a list over event time. */
export interface RowSpread {
  /** The newest first; a granule reaches to the one before it, or into others. */
  readonly granules: readonly { readonly fromNanos: bigint; readonly rows: number }[];
  /** Whether there is nothing older. */
  readonly isComplete: boolean;
}

const secondNanos = 1_000_000_000n;
const firstWidthNanos = 10n * secondNanos;
/** Later than any event time (2149). */
const maxTimeNanos = 5_700_000_000n * secondNanos;

const listGrowth = 32;
/** Beyond this, one window for the rest of history is faster than further steps. */
const maxListWidthNanos = 100n * 86_400n * secondNanos;

/**
 * The range of the plan in disjoint windows without gaps, in the direction of the plan.
 * @param rows of the first window
 */
export function listWindows(
  plan: ListPlan,
  spread: RowSpread | undefined,
  nowNanos: bigint,
  rows: number = firstRows(plan.filter),
): Generator<TimeWindow> {
  return plan.direction === 'older'
    ? olderWindows(plan, spread, nowNanos, rows)
    : newerWindows(plan, spread, rows);
}

/** Back to the start of the range, or else to 1970. */
function* olderWindows(
  plan: ListPlan,
  spread: RowSpread | undefined,
  nowNanos: bigint,
  rows: number,
): Generator<TimeWindow> {
  const fromNanos = plan.filter.fromNanos ?? 0n;
  let untilNanos = least(plan.filter.untilNanos, after(plan.position?.timeNanos));
  if (untilNanos !== undefined && untilNanos <= fromNanos) return;
  const startNanos = least(untilNanos, nowNanos)!;
  const granules = (spread?.granules ?? []).filter(
    (granule) => untilNanos === undefined || granule.fromNanos < untilNanos,
  );
  let edge = startNanos;
  for (edge of granuleEdges(granules, rows)) {
    if (edge <= fromNanos) break;
    yield { fromNanos: edge, untilNanos };
    untilNanos = edge;
  }
  if (spread?.isComplete !== true) {
    for (const width of timeWidths(startNanos - edge)) {
      edge -= width;
      if (edge <= fromNanos) break;
      yield { fromNanos: edge, untilNanos };
      untilNanos = edge;
    }
  }
  yield { fromNanos, untilNanos };
}

/** Up to the watermark or the end of the range, whichever is first. */
function* newerWindows(
  plan: ListPlan,
  spread: RowSpread | undefined,
  rows: number,
): Generator<TimeWindow> {
  const untilNanos = least(plan.filter.untilNanos, after(plan.untilWatermarkNanos));
  const endNanos = untilNanos ?? maxTimeNanos;
  let fromNanos = plan.filter.fromNanos ?? 0n;
  if (plan.position !== undefined && plan.position.timeNanos > fromNanos) {
    fromNanos = plan.position.timeNanos;
  }
  const oldest = spread?.granules.at(-1)?.fromNanos;
  if (oldest !== undefined && (spread!.isComplete || oldest <= fromNanos)) {
    const granules = spread!.granules.filter((granule) => granule.fromNanos > fromNanos);
    for (const edge of granuleEdges(granules.reverse(), rows)) {
      if (edge >= endNanos) break;
      yield { fromNanos, untilNanos: edge };
      fromNanos = edge;
    }
  } else if (spread?.isComplete !== true) {
    for (const width of timeWidths(0n)) {
      const edge = fromNanos + width;
      if (edge >= endNanos) break;
      yield { fromNanos, untilNanos: edge };
      fromNanos = edge;
    }
  }
  if (untilNanos === undefined || fromNanos < untilNanos) yield { fromNanos, untilNanos };
}

/**
 * Rows of the first window. A statement stops at its limit but plans all of its window, begins to
 * read each of its parts, and consults search indexes for some 2 ms a million rows. An identifier
 * is likely to be in one log or none, so that only the window of everything ends the search.
 * Several streams are not read in the order of time: a statement then reads every match of it.
 * @param expectedRows that hold the page; Infinity = unknown
 */
export function firstRows(filter: LogFilter, expectedRows = Infinity): number {
  const { streams, equal, conditions = [] } = filter;
  const texts = wantedTexts(filter);
  if (streams.length === 1 && seeksIdentifier(filter)) return 32_000_000;
  if (texts.length + equal.size + conditions.length === 0) return leastRows;
  // Fields have no index that takes time to consult.
  const mostRows = streams.length === 1 && texts.length === 0 ? 4_000_000 : 1_000_000;
  return Math.max(leastRows, Math.min(expectedRows, mostRows));
}

const leastRows = 100_000;

/** Whether few logs or none are likely to match. */
export function seeksIdentifier(filter: LogFilter): boolean {
  return wantedTexts(filter).some(isIdentifier);
}

/** What the logs have to contain. */
function wantedTexts({ equal, labels, search }: LogFilter): string[] {
  const wanted = search.filter(({ exclude }) => !exclude).map(({ text }) => text);
  const ids = [equal.get('traceId') ?? [], equal.get('spanId') ?? []].flat();
  return [...wanted, ...labels.map(({ value }) => value), ...ids];
}

/** Digits in a long word, as in hexadecimal ids, UUIDs and numbered names. */
function isIdentifier(text: string): boolean {
  return /\d/.test(text) && /\S{8}/.test(text);
}

/** Start times at which `rows` rows are behind, then `listGrowth` times as many, and so on. */
function* granuleEdges(granules: RowSpread['granules'], rows: number): Generator<bigint> {
  let wanted = rows;
  let seen = 0;
  let last: bigint | undefined;
  for (const granule of granules) {
    seen += granule.rows;
    if (seen < wanted || granule.fromNanos === last) continue;
    yield granule.fromNanos;
    last = granule.fromNanos;
    seen = 0;
    wanted *= listGrowth;
  }
}

/** Widths of windows where the spread is not known, after a known span. */
function* timeWidths(spanNanos: bigint): Generator<bigint> {
  const growth = BigInt(listGrowth);
  let width = spanNanos > 0n ? spanNanos * growth : firstWidthNanos;
  for (; width <= maxListWidthNanos; width *= growth) yield width;
}

/** The end of a half-open range that includes `nanos`. */
function after(nanos: bigint | undefined): bigint | undefined {
  return nanos === undefined ? undefined : nanos + 1n;
}

/** Result size that a step of a walk aims at, and the largest of a step of several rows. */
const targetBytes = 4 * 1024 * 1024;
export const maxStepBytes = 8 * 1024 * 1024;

const firstWalkRows = 16;
const maxRows = 8_192;
const minWidthNanos = secondNanos;
const maxWalkWidthNanos = 10_000_000_000n * secondNanos;

export const walkStart: WalkPoint = {
  position: undefined,
  untilNanos: undefined,
  widthNanos: firstWidthNanos,
  maxWidthNanos: maxWalkWidthNanos,
  rows: firstWalkRows,
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
