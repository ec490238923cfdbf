/**
 * The newest logs of one stream in memory: all from a position on, so that a page which ends there
 * is the page that the store would return.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan } from '../../model/plan.ts';
import { type LogRow, positionOf, receivedNanosIndex, sizeOf } from '../sql/log-record.ts';
import { toLogRows } from './batch-rows.ts';

export interface RowLimits {
  readonly maxRows: number;
  /** Estimated. */
  readonly maxBytes: number;
}

export interface PlacedRow extends LogPosition {
  readonly receivedNanos: bigint;
  /** Estimated. */
  readonly bytes: number;
  readonly row: LogRow;
}

export class StreamRows {
  readonly #limits: RowLimits;
  #rows: PlacedRow[] = [];
  #floor: LogPosition | undefined;
  #isLoaded = false;

  constructor(limits: RowLimits) {
    this.#limits = limits;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** No older log is here; undefined = all logs of the stream are. */
  get floor(): LogPosition | undefined {
    return this.#floor;
  }

  /** The newest first. */
  get rows(): readonly PlacedRow[] {
    return this.#rows;
  }

  /** @param rows the newest. @param floor no older log is among them; undefined = there is none */
  load(rows: readonly LogRow[], floor: LogPosition | undefined): void {
    this.#isLoaded = true;
    const isHigher = this.#floor === undefined || (floor && newestFirst(floor, this.#floor) < 0);
    if (isHigher) this.#floor = floor;
    this.add(rows.map(toPlaced));
  }

  /** Inserted rows. May be called before `load`, with rows that it may repeat. */
  add(added: readonly PlacedRow[]): void {
    if (added.length === 0) return;
    const sorted = [...this.#rows, ...added].sort(newestFirst);
    const { maxRows, maxBytes } = this.#limits;
    const kept: PlacedRow[] = [];
    let bytes = 0;
    for (const placed of sorted) {
      const last = kept.at(-1);
      if (this.#floor !== undefined && newestFirst(placed, this.#floor) > 0) break;
      if (last !== undefined && newestFirst(placed, last) === 0) continue;
      bytes += placed.bytes;
      if (kept.length >= maxRows || bytes > maxBytes) {
        this.#floor = last ?? { timeNanos: placed.timeNanos + 1n, tie: 0n };
        break;
      }
      kept.push(placed);
    }
    this.#rows = kept;
  }
}

export function placedRows(batch: StampedBatch): PlacedRow[] {
  return toLogRows(batch).map(toPlaced);
}

function toPlaced(row: LogRow): PlacedRow {
  const receivedNanos = BigInt(row[receivedNanosIndex]);
  return { ...positionOf(row), receivedNanos, bytes: sizeOf(row), row };
}

/** Above which the rows of the newest page are all; undefined = there are no others. */
export function floorOf(
  { filter, limit }: ListPlan,
  rows: readonly LogRow[],
): LogPosition | undefined {
  if (rows.length >= limit) return positionOf(rows.at(-1)!);
  const { fromNanos } = filter;
  return fromNanos === undefined ? undefined : { timeNanos: fromNanos - 1n, tie: afterTies };
}

/** Beyond every tie, so that no log has this position. */
const afterTies = 2n ** 64n;

/** For sorting. */
export function newestFirst(a: LogPosition, b: LogPosition): number {
  if (a.timeNanos !== b.timeNanos) return a.timeNanos > b.timeNanos ? -1 : 1;
  if (a.tie === b.tie) return 0;
  return a.tie > b.tie ? -1 : 1;
}
