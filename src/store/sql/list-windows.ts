/**
 * How a list walks through time: in windows that grow from where the page begins, so that a page of
 * recent logs reads little however long the history is, and a sparse search reads each row once.
 * Pure; it knows no SQL.
 */
import type { ListPlan } from '../../model/plan.ts';

/** Half-open [from, until) in Unix ns; undefined = unbounded. */
export interface TimeWindow {
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
}

const firstWidthNanos = 10_000_000_000n;
const growth = 32n;
/** Beyond this the rest of history is one window: there the steps cost more than they save. */
const lastWidthNanos = 100n * 86_400_000_000_000n;

/**
 * The plan's whole range in disjoint windows without gaps, in the order in which its rows are
 * wanted.
 */
export function listWindows(plan: ListPlan, nowNanos: bigint): Generator<TimeWindow> {
  return plan.direction === 'older' ? olderWindows(plan, nowNanos) : newerWindows(plan);
}

/** Back to the given start, or else to 1970: no stored log is older. */
function* olderWindows(plan: ListPlan, nowNanos: bigint): Generator<TimeWindow> {
  const fromNanos = plan.filter.fromNanos ?? 0n;
  let untilNanos = least(plan.filter.untilNanos, after(plan.position?.timeNanos));
  if (untilNanos !== undefined && untilNanos <= fromNanos) return;
  let edge = least(untilNanos, nowNanos)!;
  for (let width = firstWidthNanos; ; width *= growth) {
    edge -= width;
    if (edge <= fromNanos || width > lastWidthNanos) break;
    yield { fromNanos: edge, untilNanos };
    untilNanos = edge;
  }
  yield { fromNanos, untilNanos };
}

/** Up to the watermark, or the given end where that comes first. */
function* newerWindows(plan: ListPlan): Generator<TimeWindow> {
  const untilNanos = least(plan.filter.untilNanos, after(plan.untilWatermarkNanos));
  let fromNanos = greatest(plan.filter.fromNanos ?? 0n, plan.position?.timeNanos ?? 0n);
  for (let width = firstWidthNanos; ; width *= growth) {
    const edge = fromNanos + width;
    if (untilNanos !== undefined && edge >= untilNanos) break;
    if (edge > lastTimeNanos) break;
    yield { fromNanos, untilNanos: edge };
    fromNanos = edge;
  }
  if (untilNanos === undefined || fromNanos < untilNanos) yield { fromNanos, untilNanos };
}

/** Past every time a log can have (2149). */
const lastTimeNanos = 5_700_000_000_000_000_000n;

/** The end of a half-open range that includes `nanos`. */
function after(nanos: bigint | undefined): bigint | undefined {
  return nanos === undefined ? undefined : nanos + 1n;
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined) return b;
  return b === undefined || a < b ? a : b;
}

function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
