/**
 * Answers pages of the newest logs from memory, for streams that are read: a statement takes 7 ms
 * at least. Only for a store into which this process alone inserts. What it cannot answer exactly
 * goes to the store.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { ListPlan, LogFilter, ReadableStream } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { exceededLimit } from '../failures.ts';
import { expectedRows } from './expected-rows.ts';
import { FilteredPages, maxPageRows } from './filtered-pages.ts';
import { type ListParts, readPage } from './read-page.ts';
import { type LogRow, positionOf } from '../sql/log-record.ts';
import { pageOf, type StreamPage } from './page-of-rows.ts';
import { canFilter } from './row-filter.ts';
import { seeksIdentifier } from '../sql/time-windows.ts';
import { floorOf, type PlacedRow, placedRows, StreamRows } from './stream-rows.ts';

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
/** Loaded before all of them, which takes several times as long: most pages are of the newest. */
const firstShare = 1 / 20;
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
  rows: StreamRows;
  /** Takes the place of `rows` once it is loaded. */
  loading: StreamRows | undefined;
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
      const { stream, readMs } = entry;
      entries.set(key, { ...newEntry(stream), readMs, pausedUntilMs: now() + pauseMs });
    }
  }

  function newEntry(stream: ReadableStream): Entry {
    const rows = new StreamRows({ maxRows, maxBytes });
    const unread = { readMs: now(), unreadRows: 0, pausedUntilMs: 0 };
    return { stream, rows, loading: undefined, pages: new FilteredPages(), ...unread };
  }

  function followStream(accountId: string, stream: ReadableStream): void {
    const key = keyOf(accountId, stream.streamId);
    const known = entries.get(key);
    if (known !== undefined && (isUsable(known, stream) || known.pausedUntilMs > now())) return;
    const entry = newEntry(stream);
    entries.set(key, entry);
    if (entries.size > maxStreams) entries.delete(leastRead(entries));
    const isWanted = () => entries.get(key) === entry;
    // Every page is a statement meanwhile, whose errors are reported.
    load(loadParts, { accountId, entry, maxRows }, isWanted).catch(() => pause(entry));
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

function addRows({ rows, loading, pages }: Entry, added: readonly PlacedRow[]): void {
  rows.add(added);
  loading?.add(added);
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

/** Some of them first. @throws as a read of the store does */
async function load(
  parts: ListParts,
  { accountId, entry, maxRows }: { accountId: string; entry: Entry; maxRows: number },
  isWanted: () => boolean,
): Promise<void> {
  for (const limit of [Math.ceil(maxRows * firstShare), maxRows]) {
    const loading = new StreamRows({ maxRows, maxBytes });
    entry.loading = loading;
    const { rows, floor } = await readNewest(parts, newestPlan(accountId, entry.stream, limit));
    if (!isWanted()) return;
    loading.load(rows, floor);
    entry.rows = loading;
    entry.loading = undefined;
    if (floor === undefined) break;
  }
}

/** Fewer logs where they are too large. @throws as a read of the store does */
async function readNewest(parts: ListParts, plan: ListPlan) {
  for (let limit = Math.min(plan.limit, parts.limits.maxRowsReturned); ; limit >>= 3) {
    try {
      const rows = await readPage(parts, { ...plan, limit }, { accountId: plan.filter.accountId });
      return { rows, floor: floorOf({ ...plan, limit }, rows) };
    } catch (error) {
      if (limit < 8 || exceededLimit(error) !== 'size') throw error;
    }
  }
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

function keyOf(accountId: string, streamId: string): string {
  return `${accountId} ${streamId}`;
}
