/**
 * Counts of the logs in parts of the table, in memory. Parts never change, so neither do their
 * counts; a merge or a deletion makes new parts. Counting runs in the background, after a read that
 * would have used the counts, one part at a time.
 */
import type { Connection } from '../connection.ts';
import { exceededLimit } from '../failures.ts';
import {
  type CountKey,
  compilePartCounts,
  compilePartSpans,
  type LogPartRow,
  type PartCountRow,
  type PartSpanRow,
} from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';
import type { Minutes } from './minutes.ts';
import { type PartCounts, toPartCounts } from './part-counts.ts';

/** An account, and fields by which its logs are counted. */
export type FieldsKey = Omit<CountKey, 'part'>;

export interface CountCache {
  /** Whether any part is counted by these fields. */
  hasSome(key: FieldsKey): boolean;
  /** @returns the counts of a part, unless they are not here yet or take too much memory */
  get(key: CountKey): PartCounts | undefined;
  /** Counts parts in the background that lie mostly within the minutes and are not counted. */
  want(parts: readonly LogPartRow[], keys: readonly FieldsKey[], minutes: Minutes): void;
  /** Forgets parts that are gone. */
  keepOnly(parts: readonly LogPartRow[]): void;
  /** Resolves once no part waits to be counted. */
  settled(): Promise<void>;
}

/** Which parts are worth counting, and when. */
export interface CountOptions {
  /** Smaller parts are read as fast without. */
  readonly minPartRows: number;
  /** Younger parts are likely to be merged soon. */
  readonly minAgeSeconds: number;
  /** Fewer logs for each count save too little. */
  readonly minLogsPerCount: number;
  /** Between two looks for parts to count, by reads that no counts answer yet. */
  readonly lookEveryMs: number;
  /** Between two looks for new parts after a read, until an hour after it. */
  readonly followEveryMs: number;
  /** Counts in memory, of 8 bytes each. */
  readonly maxCountsKept: number;
}

export const countDefaults: CountOptions = {
  minPartRows: 50_000,
  minAgeSeconds: 20,
  minLogsPerCount: 8,
  lookEveryMs: 1_000,
  followEveryMs: 15_000,
  maxCountsKept: 8_000_000,
};

/** Dropped counts are not made again sooner, or those of one read would displace each other. */
const restMs = 600_000;
const nanosPerMinute = 60_000_000_000;

/** When it was dropped, as others needed the memory. */
type Dropped = { readonly droppedAtMs: number };
interface Kept {
  readonly counts: PartCounts;
  usedAtMs: number;
}
type Entry = Kept | 'counting' | 'too many' | Dropped;
/** Minutes since 1970. */
type Span = readonly [from: number, until: number];

export function createCountCache(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  { minPartRows, minAgeSeconds, minLogsPerCount, maxCountsKept }: CountOptions,
): CountCache {
  const entries = createEntries(maxCountsKept);
  const spans = createPartSpans(connection, placement);
  let work: Promise<void> | undefined;

  async function count(key: CountKey, rows: number): Promise<void> {
    const name = nameOf(key);
    entries.set(name, 'counting');
    const maxCounts = Math.ceil(rows / minLogsPerCount);
    for (const step of [1, 60] as const) {
      const statement = compilePartCounts(placement, key, { step, maxCounts });
      try {
        const counted = await connection.query<PartCountRow>('housekeeping', statement);
        if (entries.has(name)) entries.keep(name, toPartCounts(step, counted));
        return;
      } catch (error) {
        if (exceededLimit(error) !== undefined) continue;
        // Tried again by a later read.
        entries.delete(name);
        return;
      }
    }
    entries.set(name, 'too many');
  }

  async function countAll(
    parts: readonly LogPartRow[],
    key: FieldsKey,
    minutes: Minutes,
  ): Promise<void> {
    await spans.load(key.accountId, parts);
    for (const [part, rows] of parts) {
      const span = spans.get(key.accountId, part);
      if (span === undefined || !isMostlyWithin(span, minutes)) continue;
      await count({ ...key, part }, Number(rows));
    }
  }

  const isWaiting = ([part, rows, ageSeconds]: LogPartRow, key: FieldsKey) =>
    Number(rows) >= minPartRows &&
    ageSeconds >= minAgeSeconds &&
    !entries.isSettled(nameOf({ ...key, part }));

  return {
    hasSome: (key) => entries.hasCounts(nameOf({ ...key, part: '' })),
    get: (key) => entries.counts(nameOf(key)),
    want(parts, keys, minutes) {
      if (work !== undefined) return;
      const waiting = keys.map((key) => parts.filter((part) => isWaiting(part, key)));
      if (waiting.every((some) => some.length === 0)) return;
      const countEach = async () => {
        for (const [i, key] of keys.entries()) await countAll(waiting[i]!, key, minutes);
      };
      work = countEach()
        .catch(() => undefined)
        .finally(() => {
          work = undefined;
        });
    },
    keepOnly(parts) {
      const present = new Set(parts.map(([part]) => part));
      entries.keepOnly(present);
      spans.keepOnly(present);
    },
    settled: async () => work,
  };
}

/** By name. Of the counts that take too much memory, those large and long unused go first. */
function createEntries(maxCountsKept: number) {
  const entries = new Map<string, Entry>();
  const keptOf = (entry: Entry | undefined) =>
    typeof entry === 'object' && 'counts' in entry ? entry : undefined;
  const sizeOf = (entry: Entry | undefined) => keptOf(entry)?.counts.size ?? 0;
  let size = 0;

  function set(name: string, entry: Entry | undefined): void {
    size += sizeOf(entry) - sizeOf(entries.get(name));
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }

  function dropOne(): void {
    const nowMs = performance.now();
    const cost = (entry: Entry) => sizeOf(entry) * (nowMs - (keptOf(entry)?.usedAtMs ?? nowMs));
    let worst: readonly [string, Entry] | undefined;
    for (const each of entries) {
      if (worst === undefined || cost(each[1]) > cost(worst[1])) worst = each;
    }
    set(worst![0], { droppedAtMs: nowMs });
  }

  return {
    has: (name: string) => entries.has(name),
    /** Whether it need not be counted now. */
    isSettled(name: string): boolean {
      const entry = entries.get(name);
      if (typeof entry !== 'object' || 'counts' in entry) return entry !== undefined;
      return performance.now() - entry.droppedAtMs < restMs;
    },
    delete: (name: string) => set(name, undefined),
    set,
    keep(name: string, counts: PartCounts): void {
      // Before the new ones are there, so that those are not dropped.
      while (size > 0 && size + counts.size > maxCountsKept) dropOne();
      set(name, { counts, usedAtMs: performance.now() });
    },
    counts(name: string): PartCounts | undefined {
      const kept = keptOf(entries.get(name));
      if (kept !== undefined) kept.usedAtMs = performance.now();
      return kept?.counts;
    },
    hasCounts(ending: string): boolean {
      return [...entries].some(([name, entry]) => sizeOf(entry) > 0 && name.endsWith(ending));
    },
    keepOnly(present: ReadonlySet<string>): void {
      for (const name of entries.keys()) if (!present.has(partOf(name))) set(name, undefined);
    },
  };
}

function nameOf({ part, accountId, fields }: CountKey): string {
  return [part, accountId, ...fields.map(encodeURIComponent)].join(' ');
}

function partOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

/** The event times of an account in each part; undefined = none of its granules. */
function createPartSpans(connection: Pick<Connection, 'query'>, placement: Placement) {
  const spans = new Map<string, Span | undefined>();
  const nameFor = (accountId: string, part: string) => `${part} ${accountId}`;
  return {
    get: (accountId: string, part: string) => spans.get(nameFor(accountId, part)),
    async load(accountId: string, parts: readonly LogPartRow[]): Promise<void> {
      const unknown = parts
        .map(([part]) => part)
        .filter((part) => !spans.has(nameFor(accountId, part)));
      if (unknown.length === 0) return;
      const statement = compilePartSpans(placement, accountId, unknown);
      const rows = await connection.query<PartSpanRow>('housekeeping', statement);
      for (const part of unknown) spans.set(nameFor(accountId, part), undefined);
      for (const [part, fromNanos, untilNanos] of rows) {
        const minutes = [fromNanos, untilNanos].map((nanos) => Number(nanos) / nanosPerMinute);
        spans.set(nameFor(accountId, part), [minutes[0]!, minutes[1]!]);
      }
    },
    keepOnly(present: ReadonlySet<string>): void {
      for (const name of spans.keys()) if (!present.has(partOf(name))) spans.delete(name);
    },
  };
}

/** Counting reads the whole part, so a read of a small piece of it does not pay for that. */
function isMostlyWithin([from, until]: Span, minutes: Minutes): boolean {
  const covered = Math.min(until, minutes.until) - Math.max(from, minutes.from);
  return covered >= (until - from) / 2;
}
