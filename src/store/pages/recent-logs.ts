/**
 * Answers pages of the newest logs from memory, for streams that are read: a statement takes 7 ms
 * at least. Only for a store into which this process alone inserts. What it cannot answer exactly
 * goes to the store.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { ListPlan, LogFilter, ReadableStream } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { expectedRows } from './expected-rows.ts';
import { FilteredPages, maxPageRows } from './filtered-pages.ts';
import { packBatch } from './packed-rows.ts';
import { pageOf, type StreamPage } from './page-of-rows.ts';
import { NewestRows } from './newest-rows.ts';
import { type ListParts, readPage } from './read-page.ts';
import { type LogRow, positionOf } from '../sql/log-record.ts';
import { canFilter } from './row-filter.ts';
import { seeksIdentifier } from '../sql/time-windows.ts';
import { floorOf, type PlacedRow, placedRow } from './stream-rows.ts';

export type RecentLogs = ReturnType<typeof createRecentLogs>;

export interface RecentOptions {
  /** In memory for one stream. */
  readonly maxRows: number;
  /** Unix ms. */
  readonly now: () => number;
  /** Whether logs that are not in memory yet may have been read in an account. */
  readonly wereReadAhead: (accountId: string) => boolean;
}

export const maxRecentRows = 20_000;
const maxStreams = 4;
/** A stream without reads for this long is dropped. */
const idleMs = 5 * 60_000;
/** More rows between two reads, or so many times `maxRows`, cost more to keep than a statement. */
const leastUnreadRows = 2_000;
const unreadShare = 2.5;
/** Before a stream with more rows than that is loaded again. */
const pauseMs = 60_000;
const nanosPerMilli = 1_000_000n;

interface Entry {
  readonly stream: ReadableStream;
  readonly newest: NewestRows;
  readonly pages: FilteredPages;
  readMs: number;
  unreadRows: number;
  /** Unix ms; until then its logs are not in memory. */
  pausedUntilMs: number;
}

export function createRecentLogs(parts: ListParts, { maxRows, now, wereReadAhead }: RecentOptions) {
  const maxUnreadRows = Math.max(leastUnreadRows, unreadShare * maxRows);
  const entries = new Map<string, Entry>();

  function pause(key: string, entry: Entry): void {
    if (entries.get(key) !== entry) return;
    const { stream, newest, readMs } = entry;
    const paused = newEntry(newest.accountId, stream);
    entries.set(key, { ...paused, readMs, pausedUntilMs: now() + pauseMs });
  }

  function newEntry(accountId: string, stream: ReadableStream): Entry {
    const newest = new NewestRows(parts, { accountId, stream, maxRows });
    const unread = { readMs: now(), unreadRows: 0, pausedUntilMs: 0 };
    return { stream, newest, pages: new FilteredPages(), ...unread };
  }

  function followStream(accountId: string, stream: ReadableStream): void {
    const key = keyOf(accountId, stream.streamId);
    const known = entries.get(key);
    if (known !== undefined && (isUsable(known, stream) || known.pausedUntilMs > now())) return;
    const entry = newEntry(accountId, stream);
    entries.set(key, entry);
    if (entries.size > maxStreams) entries.delete(leastRead(entries));
    // Every page is a statement meanwhile, whose errors are reported.
    entry.newest.load(() => entries.get(key) === entry).catch(() => pause(key, entry));
  }

  return {
    /** The newest first; undefined where the store must be read. */
    list(plan: ListPlan): LogRow[] | undefined {
      const { accountId, streams } = plan.filter;
      if (wereReadAhead(accountId) || !canRemember(plan.filter)) return undefined;
      const found: StreamPage[] = [];
      for (const stream of streams) {
        const entry = entries.get(keyOf(accountId, stream.streamId));
        if (entry === undefined || !entry.newest.rows.isLoaded || !isUsable(entry, stream)) {
          return undefined;
        }
        found.push({ stream, rows: entry.newest.rows });
        entry.readMs = now();
        entry.unreadRows = 0;
      }
      // A kept page has matching logs only, so it is faster to read.
      return filteredPage(plan, entries) ?? pageOf(plan, found);
    },
    /** Reads the store, and keeps a page of the newest logs of a filter. */
    async read(plan: ListPlan, context: QueryContext): Promise<LogRow[]> {
      const { accountId, streams } = plan.filter;
      const known = streams.map(
        ({ streamId }) => entries.get(keyOf(accountId, streamId))?.newest.rows,
      );
      const sized = { ...parts, expectedRows: expectedRows(plan, known) };
      const pages = pagesFor(plan, entries, now());
      return pages ? readAndKeep(sized, pages, { plan, context }) : readPage(sized, plan, context);
    },
    /** Loads the newest logs of the plan's streams, for the reads after it. */
    follow(plan: ListPlan): void {
      const { accountId, streams, untilNanos } = plan.filter;
      const isNewest = plan.position === undefined || plan.direction === 'newer';
      if (!isNewest || !reaches(untilNanos, now() - pauseMs) || streams.length > maxStreams) return;
      for (const stream of streams) followStream(accountId, stream);
    },
    /** To be called with logs once the store has acknowledged them. */
    inserted(batches: readonly StampedBatch[]): void {
      const byStream = Map.groupBy(batches, ({ owner }) => keyOf(owner.accountId, owner.streamId));
      for (const [key, own] of byStream) {
        const entry = entries.get(key);
        if (entry === undefined || entry.pausedUntilMs > 0) continue;
        for (const { rows } of own) entry.unreadRows += rows;
        if (now() - entry.readMs > idleMs) entries.delete(key);
        else if (entry.unreadRows > maxUnreadRows) pause(key, entry);
        // At once: an insert may have thousands of batches, and adding copies the list of all rows.
        else addRows(entry, own.flatMap(packBatch));
      }
    },
    forget: (accountId: string, streamId: string) =>
      void entries.delete(keyOf(accountId, streamId)),
    forgetAll: () => entries.clear(),
  };
}

/** Where a page of the newest logs is kept; undefined = it is not. */
function pagesFor(
  { filter, limit, direction, position, paths }: ListPlan,
  entries: ReadonlyMap<string, Entry>,
  nowMs: number,
): FilteredPages | undefined {
  const { accountId, streams, untilNanos } = filter;
  const [stream] = streams;
  if (stream === undefined || streams.length > 1 || !canRemember(filter)) return undefined;
  if (direction === 'newer' || position !== undefined || limit > maxPageRows) return undefined;
  // Its rows lack the other fields.
  if (paths !== undefined) return undefined;
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
    const placed = rows.map(placedRow);
    page.rows.load(placed, floorOf(newest, placed));
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

function addRows({ newest, pages }: Entry, added: readonly PlacedRow[]): void {
  newest.add(added);
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
