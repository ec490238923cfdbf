/**
 * The newest logs of one stream in memory: all from a position on, so that a page which ends there
 * is the page that the store would return.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { LogPosition } from '../../model/log-id.ts';
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

  /** @param rows the newest of the stream. @param isAll whether there are no others */
  load(rows: readonly LogRow[], isAll: boolean): void {
    this.#isLoaded = true;
    const placed = rows.map(toPlaced);
    const last = placed.at(-1);
    const isHigher = last && (this.#floor === undefined || newestFirst(last, this.#floor) < 0);
    if (!isAll && isHigher) this.#floor = last;
    this.#add(placed);
  }

  /** May be called before `load`, with rows that it may repeat. */
  inserted(batch: StampedBatch): void {
    this.#add(toLogRows(batch).map(toPlaced));
  }

  #add(added: readonly PlacedRow[]): void {
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

function toPlaced(row: LogRow): PlacedRow {
  const receivedNanos = BigInt(row[receivedNanosIndex]);
  return { ...positionOf(row), receivedNanos, bytes: sizeOf(row), row };
}

/** For sorting. */
export function newestFirst(a: LogPosition, b: LogPosition): number {
  if (a.timeNanos !== b.timeNanos) return a.timeNanos > b.timeNanos ? -1 : 1;
  if (a.tie === b.tie) return 0;
  return a.tie > b.tie ? -1 : 1;
}
