/**
 * The newest logs of one stream in memory: all from a position on, so that a page which ends there
 * is the page that the store would return.
 */
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan } from '../../model/plan.ts';
import { type LogRow, positionOf, receivedNanosIndex, sizeOf } from '../sql/log-record.ts';

export interface RowLimits {
  readonly maxRows: number;
  /** Estimated. */
  readonly maxBytes: number;
}

export interface PlacedRow extends LogPosition {
  readonly receivedNanos: bigint;
  /** Estimated, besides `shared`. */
  readonly bytes: number;
  /** Memory of several rows, which is freed with the last of them. */
  readonly shared?: { readonly byteLength: number };
  /** One column of the row. */
  at<Index extends keyof LogRow & number>(index: Index): LogRow[Index];
  row(): LogRow;
}

/** Of the row in memory itself, and its places in lists. */
const bytesPerRow = 200;

export class StreamRows {
  readonly #limits: RowLimits;
  #rows: readonly PlacedRow[] = [];
  #bytes = 0;
  /** Rows by the memory that they share. */
  readonly #sharing = new Map<object, number>();
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
  load(rows: readonly PlacedRow[], floor: LogPosition | undefined): void {
    this.#isLoaded = true;
    const isHigher = this.#floor === undefined || (floor && newestFirst(floor, this.#floor) < 0);
    if (isHigher) this.#floor = floor;
    const kept = this.#rows.filter((row) => !this.#isBelow(row));
    for (const row of this.#rows.slice(kept.length)) this.#release(row);
    this.#rows = kept;
    this.add(rows);
  }

  /** Inserted rows. May be called before `load`, with rows that it may repeat. */
  add(added: readonly PlacedRow[]): void {
    const sorted = added.filter((row) => !this.#isBelow(row)).sort(newestFirst);
    const oldest = sorted.at(-1);
    if (oldest === undefined) return;
    const known = this.#rows;
    const end = countUntil(known, oldest);
    const merged = this.#merge(known.slice(0, end), sorted);
    for (let at = end; at < known.length; at += 1) merged.push(known[at]!);
    this.#trim(merged);
    this.#rows = merged;
  }

  #isBelow(position: LogPosition): boolean {
    return this.#floor !== undefined && newestFirst(position, this.#floor) > 0;
  }

  /** Each position once. */
  #merge(known: readonly PlacedRow[], added: readonly PlacedRow[]): PlacedRow[] {
    const merged: PlacedRow[] = [];
    let at = 0;
    for (const row of added) {
      while (at < known.length && newestFirst(known[at]!, row) < 0) merged.push(known[at++]!);
      const isKnown = at < known.length && newestFirst(known[at]!, row) === 0;
      const last = merged.at(-1);
      if (isKnown || (last !== undefined && newestFirst(last, row) === 0)) continue;
      this.#hold(row);
      merged.push(row);
    }
    for (; at < known.length; at += 1) merged.push(known[at]!);
    return merged;
  }

  #trim(rows: PlacedRow[]): void {
    const { maxRows, maxBytes } = this.#limits;
    while (rows.length > maxRows || this.#bytes > maxBytes) {
      const dropped = rows.pop()!;
      this.#release(dropped);
      this.#floor = rows.at(-1) ?? { timeNanos: dropped.timeNanos + 1n, tie: 0n };
    }
  }

  #hold({ bytes, shared }: PlacedRow): void {
    this.#bytes += bytesPerRow + bytes;
    if (shared === undefined) return;
    const rows = this.#sharing.get(shared) ?? 0;
    if (rows === 0) this.#bytes += shared.byteLength;
    this.#sharing.set(shared, rows + 1);
  }

  #release({ bytes, shared }: PlacedRow): void {
    this.#bytes -= bytesPerRow + bytes;
    if (shared === undefined) return;
    const rows = this.#sharing.get(shared)! - 1;
    if (rows > 0) {
      this.#sharing.set(shared, rows);
      return;
    }
    this.#sharing.delete(shared);
    this.#bytes -= shared.byteLength;
  }
}

/** A row as texts, which shares no memory. */
export function placedRow(row: LogRow): PlacedRow {
  return {
    ...positionOf(row),
    receivedNanos: BigInt(row[receivedNanosIndex]),
    bytes: sizeOf(row),
    at: (index) => row[index],
    row: () => row,
  };
}

/** Above which the rows of the newest page are all; undefined = there are no others. */
export function floorOf(
  { filter, limit }: ListPlan,
  rows: readonly LogPosition[],
): LogPosition | undefined {
  if (rows.length >= limit) return rows.at(-1);
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

/** How many of the sorted rows are not older than the position. */
export function countUntil(rows: readonly PlacedRow[], position: LogPosition): number {
  let from = 0;
  let to = rows.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (newestFirst(rows[middle]!, position) <= 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
