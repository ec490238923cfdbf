/** Loads the newest logs of a stream into memory, while others are inserted. */
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan, LogFilter, ReadableStream } from '../../model/plan.ts';
import { exceededLimit } from '../failures.ts';
import { type ListParts, readPackedPage, readPage } from './read-page.ts';
import { floorOf, type PlacedRow, placedRow, StreamRows } from './stream-rows.ts';

export interface NewestOptions {
  readonly accountId: string;
  readonly stream: ReadableStream;
  readonly maxRows: number;
}

/** Loaded first, since most pages are of the newest. */
const firstShare = 1 / 100;
/** Loaded at a time. */
const stepShare = 1 / 5;
/** Estimated, for one stream; of one result as well. */
const maxBytes = 16 * 2 ** 20;

export class NewestRows {
  readonly #parts: ListParts;
  readonly #options: NewestOptions;
  #rows: StreamRows;
  /** Takes the place of `rows` once it is loaded. */
  #loading: StreamRows | undefined;

  constructor(parts: ListParts, options: NewestOptions) {
    this.#parts = { ...parts, limits: { ...parts.limits, maxBytesReturned: maxBytes } };
    this.#options = options;
    this.#rows = this.#blank();
  }

  get accountId(): string {
    return this.#options.accountId;
  }

  get rows(): StreamRows {
    return this.#rows;
  }

  /** Inserted rows. */
  add(rows: readonly PlacedRow[]): void {
    this.#rows.add(rows);
    this.#loading?.add(rows);
  }

  /**
   * Some of the newest first, then older ones, as many as fit.
   * @param isWanted false once others have taken their place
   * @throws as a read of the store does
   */
  async load(isWanted: () => boolean): Promise<void> {
    const { maxRows } = this.#options;
    const step = Math.ceil(maxRows * stepShare);
    const first = Math.ceil(maxRows * firstShare);
    await this.#extend([], { limit: first, position: undefined }, readPlaced);
    if (!isWanted() || this.#rows.floor === undefined) return;
    await this.#extend([], { limit: step, position: undefined }, readPackedPage);
    for (let isFull = false; isWanted() && !isFull; ) {
      const { rows, floor } = this.#rows;
      const limit = Math.min(step, maxRows - rows.length);
      if (floor === undefined || limit <= 0) return;
      const lowest = await this.#extend(rows, { limit, position: floor }, readPackedPage);
      // Others were dropped for them.
      isFull = this.#rows.floor !== lowest;
    }
  }

  /** @returns the floor of what was read */
  async #extend(
    known: readonly PlacedRow[],
    page: Pick<ListPlan, 'limit' | 'position'>,
    read: ReadRows,
  ): Promise<LogPosition | undefined> {
    const loading = this.#blank();
    this.#loading = loading;
    try {
      const { rows, floor } = await readNewest(this.#parts, this.#plan(page), read);
      loading.load([...known, ...rows], floor);
      this.#rows = loading;
      return floor;
    } finally {
      this.#loading = undefined;
    }
  }

  #blank(): StreamRows {
    return new StreamRows({ maxRows: this.#options.maxRows, maxBytes });
  }

  #plan(page: Pick<ListPlan, 'limit' | 'position'>): ListPlan {
    const { accountId, stream } = this.#options;
    const filter: LogFilter = {
      accountId,
      streams: [stream],
      fromNanos: undefined,
      untilNanos: undefined,
      equal: new Map(),
      labels: [],
      search: [],
    };
    return { filter, direction: 'older', untilWatermarkNanos: undefined, ...page };
  }
}

type ReadRows = typeof readPackedPage;

const readPlaced: ReadRows = async (...read) => (await readPage(...read)).map(placedRow);

/** Fewer logs where they are too large. @throws as a read of the store does */
async function readNewest(parts: ListParts, plan: ListPlan, read: ReadRows) {
  for (let limit = Math.min(plan.limit, parts.limits.maxRowsReturned); ; limit >>= 3) {
    try {
      const rows = await read(parts, { ...plan, limit }, { accountId: plan.filter.accountId });
      return { rows, floor: floorOf({ ...plan, limit }, rows) };
    } catch (error) {
      if (limit < 8 || exceededLimit(error) !== 'size') throw error;
    }
  }
}
