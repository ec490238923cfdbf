/**
 * Answers pages of the newest logs from memory, for streams that are read: a statement takes 7 ms
 * at least. Only for a store into which this process alone inserts. What it cannot answer exactly
 * goes to the store.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan, LogFilter, ReadableStream } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { exceededLimit } from '../failures.ts';
import { expectedRows } from './expected-rows.ts';
import { FilteredPages, maxPageRows } from './filtered-pages.ts';
import { type ListParts, readPage } from './read-page.ts';
import { type LogRow, positionOf } from '../sql/log-record.ts';
import { canFilter, rowFilter } from './row-filter.ts';
import { seeksIdentifier } from '../sql/time-windows.ts';
import { floorOf, newestFirst, type PlacedRow, placedRows, StreamRows } from './stream-rows.ts';

export interface RecentLogs {
  /** The newest first; undefined where the store must be read. */
  list(plan: ListPlan): LogRow[] | undefined;
  /** Reads the store, and keeps a page of the newest logs of a filter. */
  read(plan: ListPlan, context: QueryContext): Promise<LogRow[]>;
  /** Loads the newest logs of the plan's streams, for the reads after it. */
  follow(plan: ListPlan): void;
  /** To be called with logs once the store has acknowledged them. */
  inserted(batches: readonly StampedBatch[]): void;
  forget(accountId: string, streamId: string): void;
  forgetAll(): void;
}

export interface RecentOptions {
  /** In memory for one stream. */
  readonly maxRows: number;
  /** Unix ms. */
  readonly now: () => number;
}

export const maxRecentRows = 4_000;
/** Estimated, for one stream. */
const maxBytes = 8 * 2 ** 20;
const maxStreams = 4;
/** A stream without reads for this long is dropped. */
const idleMs = 5 * 60_000;
/** More rows between two reads cost more to decode than a statement. */
const maxUnreadRows = 2_000;
/** Before a stream with more rows than that is loaded again. */
const pauseMs = 60_000;
const nanosPerMilli = 1_000_000n;

interface Entry {
  readonly stream: ReadableStream;
  readonly rows: StreamRows;
  readonly pages: FilteredPages;
  readMs: number;
  unreadRows: number;
  /** Unix ms; until then its logs are not in memory. */
  pausedUntilMs: number;
}

export function createRecentLogs(parts: ListParts, { maxRows, now }: RecentOptions): RecentLogs {
  const loadParts = { ...parts, limits: { ...parts.limits, maxBytesReturned: 2 * maxBytes } };
  const entries = new Map<string, Entry>();

  function pause(entry: Entry): void {
    for (const [key, known] of entries) {
      if (known !== entry) continue;
      const unknown = { rows: newRows(), pages: new FilteredPages() };
      entries.set(key, { ...entry, ...unknown, pausedUntilMs: now() + pauseMs });
    }
  }

  const newRows = () => new StreamRows({ maxRows, maxBytes });

  async function load(accountId: string, key: string, entry: Entry): Promise<void> {
    for (let limit = Math.min(maxRows, parts.limits.maxRowsReturned); ; limit >>= 3) {
      try {
        const plan = newestPlan(accountId, entry.stream, limit);
        const rows = await readPage(loadParts, plan, { accountId });
        if (entries.get(key) === entry) entry.rows.load(rows, floorOf(plan, rows));
        return;
      } catch (error) {
        if (limit >= 8 && exceededLimit(error) === 'size') continue;
        // Every page is a statement meanwhile, whose errors are reported.
        pause(entry);
        return;
      }
    }
  }

  function followStream(accountId: string, stream: ReadableStream): void {
    const key = keyOf(accountId, stream.streamId);
    const known = entries.get(key);
    if (known !== undefined && (isUsable(known, stream) || known.pausedUntilMs > now())) return;
    const fresh = { readMs: now(), unreadRows: 0, pausedUntilMs: 0 };
    const entry: Entry = { stream, rows: newRows(), pages: new FilteredPages(), ...fresh };
    entries.set(key, entry);
    if (entries.size > maxStreams) entries.delete(leastRead(entries));
    void load(accountId, key, entry);
  }

  return {
    list(plan) {
      if (!canRemember(plan.filter)) return undefined;
      const { accountId, streams } = plan.filter;
      const found: StreamPage[] = [];
      for (const stream of streams) {
        const entry = entries.get(keyOf(accountId, stream.streamId));
        if (entry === undefined || !entry.rows.isLoaded || !isUsable(entry, stream)) {
          return undefined;
        }
        found.push({ stream, rows: entry.rows });
        entry.readMs = now();
        entry.unreadRows = 0;
      }
      return pageOf(plan, found) ?? filteredPage(plan, entries);
    },
    read(plan, context) {
      const { accountId, streams } = plan.filter;
      const known = streams.map(({ streamId }) => entries.get(keyOf(accountId, streamId))?.rows);
      const sized = { ...parts, expectedRows: expectedRows(plan, known) };
      const pages = pagesFor(plan, entries, now());
      return pages ? readAndKeep(sized, pages, { plan, context }) : readPage(sized, plan, context);
    },
    follow(plan) {
      const { accountId, streams, untilNanos } = plan.filter;
      const isNewest = plan.position === undefined || plan.direction === 'newer';
      if (!isNewest || !reaches(untilNanos, now() - pauseMs) || streams.length > maxStreams) return;
      for (const stream of streams) followStream(accountId, stream);
    },
    inserted(batches) {
      for (const batch of batches) {
        const key = keyOf(batch.owner.accountId, batch.owner.streamId);
        const entry = entries.get(key);
        if (entry === undefined || entry.pausedUntilMs > 0) continue;
        entry.unreadRows += batch.rows;
        if (now() - entry.readMs > idleMs) entries.delete(key);
        else if (entry.unreadRows > maxUnreadRows) pause(entry);
        else addRows(entry, placedRows(batch));
      }
    },
    forget: (accountId, streamId) => void entries.delete(keyOf(accountId, streamId)),
    forgetAll: () => entries.clear(),
  };
}

/** Where a page of the newest logs is kept; undefined = it is not. */
function pagesFor(
  { filter, limit, direction, position }: ListPlan,
  entries: ReadonlyMap<string, Entry>,
  nowMs: number,
): FilteredPages | undefined {
  const { accountId, streams, untilNanos } = filter;
  const [stream] = streams;
  if (stream === undefined || streams.length > 1 || !canRemember(filter)) return undefined;
  if (direction === 'newer' || position !== undefined || limit > maxPageRows) return undefined;
  const entry = entries.get(keyOf(accountId, stream.streamId));
  const isLive = entry !== undefined && isUsable(entry, stream);
  return isLive && reaches(untilNanos, nowMs - pauseMs) ? entry.pages : undefined;
}

/** Whether a range with this end has the time, Unix ms. */
function reaches(untilNanos: bigint | undefined, ms: number): boolean {
  return untilNanos === undefined || Number(untilNanos / nanosPerMilli) >= ms;
}

/** Without the end of the range, so that pages that end elsewhere follow from what is kept. */
async function readAndKeep(
  parts: ListParts,
  pages: FilteredPages,
  { plan, context }: { readonly plan: ListPlan; readonly context: QueryContext },
): Promise<LogRow[]> {
  const { filter } = plan;
  // Another read loads it.
  if (pages.find(filter)?.rows.isLoaded === false) return readPage(parts, plan, context);
  const page = pages.open(filter, filter.streams[0]!);
  try {
    const newest = { ...plan, filter: { ...filter, untilNanos: undefined } };
    const rows = await readPage(parts, newest, context);
    page.rows.load(rows, floorOf(newest, rows));
    const { untilNanos } = filter;
    const isBeyond = (row: LogRow) =>
      untilNanos !== undefined && positionOf(row).timeNanos >= untilNanos;
    return rows.some(isBeyond) ? await readPage(parts, plan, context) : rows;
  } finally {
    if (!page.rows.isLoaded) pages.drop(filter, page);
  }
}

function canRemember(filter: LogFilter): boolean {
  return canFilter(filter) && !seeksIdentifier(filter);
}

function addRows({ rows, pages }: Entry, added: readonly PlacedRow[]): void {
  rows.add(added);
  pages.inserted(added);
}

/** From the logs of a filter alone. */
function filteredPage(plan: ListPlan, entries: ReadonlyMap<string, Entry>): LogRow[] | undefined {
  const { accountId, streams } = plan.filter;
  const [stream] = streams;
  if (stream === undefined || streams.length > 1) return undefined;
  const page = entries.get(keyOf(accountId, stream.streamId))?.pages.find(plan.filter);
  const isKnown =
    page?.rows.isLoaded === true && stream.receivedFromNanos >= page.stream.receivedFromNanos;
  return isKnown ? pageOf(plan, [{ stream, rows: page.rows }]) : undefined;
}

function newestPlan(accountId: string, stream: ReadableStream, limit: number): ListPlan {
  const filter: LogFilter = {
    accountId,
    streams: [stream],
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
  };
  const whole = { position: undefined, untilWatermarkNanos: undefined };
  return { filter, limit, direction: 'older', ...whole };
}

/** Also after its load: the stream must hide at least the logs that it hid then. */
function isUsable(
  { stream, pausedUntilMs }: Entry,
  { receivedFromNanos }: ReadableStream,
): boolean {
  return pausedUntilMs === 0 && receivedFromNanos >= stream.receivedFromNanos;
}

function leastRead(entries: ReadonlyMap<string, Entry>): string {
  const [first] = [...entries].sort(([, a], [, b]) => a.readMs - b.readMs);
  return first![0];
}

interface StreamPage {
  readonly stream: ReadableStream;
  readonly rows: StreamRows;
}

/** Undefined where logs below the floor of a stream may belong to the page. */
function pageOf(plan: ListPlan, streams: readonly StreamPage[]): LogRow[] | undefined {
  const { filter, limit, direction, position } = plan;
  const floor = streams
    .flatMap(({ rows }) => rows.floor ?? [])
    .reduce<LogPosition | undefined>((a, b) => (a && newestFirst(a, b) < 0 ? a : b), undefined);
  const isAbove = (one: LogPosition) => floor === undefined || newestFirst(one, floor) <= 0;
  const startsAbove =
    floor === undefined || (filter.fromNanos !== undefined && filter.fromNanos > floor.timeNanos);
  const isNewer = direction === 'newer';
  if (isNewer && !startsAbove && (position === undefined || !isAbove(position))) return undefined;
  const matches = rowTest(plan);
  const found = streams.flatMap(({ stream, rows }) => {
    const isWanted = (one: PlacedRow) =>
      one.receivedNanos >= stream.receivedFromNanos && isAbove(one) && matches(one);
    return takeRows(isNewer ? rows.rows.toReversed() : rows.rows, limit, isWanted);
  });
  found.sort(newestFirst);
  const page = isNewer ? found.slice(-limit) : found.slice(0, limit);
  if (!isNewer && page.length < limit && !startsAbove) return undefined;
  return page.map(({ row }) => row);
}

function takeRows(
  rows: readonly PlacedRow[],
  limit: number,
  isWanted: (row: PlacedRow) => boolean,
): PlacedRow[] {
  const taken: PlacedRow[] = [];
  for (const row of rows) {
    if (taken.length >= limit) break;
    if (isWanted(row)) taken.push(row);
  }
  return taken;
}

function rowTest({ filter, direction, position, untilWatermarkNanos }: ListPlan) {
  const { fromNanos = 0n, untilNanos } = filter;
  const matches = rowFilter(filter);
  const isNewer = direction === 'newer';
  return (one: PlacedRow): boolean => {
    if (one.timeNanos < fromNanos) return false;
    if (untilNanos !== undefined && one.timeNanos >= untilNanos) return false;
    if (isNewer && untilWatermarkNanos !== undefined && one.timeNanos > untilWatermarkNanos) {
      return false;
    }
    const order = position === undefined ? undefined : newestFirst(one, position);
    if (order !== undefined && (isNewer ? order >= 0 : order <= 0)) return false;
    return matches(one.row);
  };
}

function keyOf(accountId: string, streamId: string): string {
  return `${accountId} ${streamId}`;
}
