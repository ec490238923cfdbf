/**
 * Counts of the logs in parts of the table, in memory. Parts never change, so neither do their
 * counts; a merge or a deletion makes new parts. Counting runs in the background, after a read that
 * would have used the counts, one part at a time.
 */
import { isLabelField } from '../../model/log-fields.ts';
import type { Connection } from '../connection.ts';
import { exceededLimit } from '../failures.ts';
import {
  type CountKey,
  type CountStep,
  compileLogParts,
  compilePartCounts,
  compilePartSpans,
  countSteps,
  type LogPartRow,
  nanosPerTick,
  type PartCountRow,
  type PartSpanRow,
} from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';
import { createEntries, nameOf, partOf } from './count-entries.ts';
import { createCountFiles } from './count-files.ts';
import { type PartCounts, toPartCounts } from './part-counts.ts';
import { sourcesOf } from './part-list.ts';
import type { Ticks } from './ticks.ts';

/** An account, and fields by which its logs are counted. */
export type FieldsKey = Omit<CountKey, 'part'>;

export interface CountCache {
  /** Whether there is memory for counts that may not be used. */
  hasRoom(): boolean;
  /** Whether any part is counted by these fields. */
  hasSome(key: FieldsKey): boolean;
  /** @returns the counts of a part, unless they are not here yet or take too much memory */
  get(key: CountKey): PartCounts | undefined;
  /**
   * Counts parts in the background that lie mostly within the ticks and are not counted. The keys
   * are of one account.
   */
  want(parts: readonly LogPartRow[], keys: readonly FieldsKey[], ticks: Ticks): void;
  /** Takes over the counts of merged parts, and forgets parts that are gone. */
  follow(parts: readonly LogPartRow[]): void;
  /** Resolves once no part waits to be counted. */
  settled(): Promise<void>;
  /** Takes over what an earlier process counted. Resolves always. */
  load(): Promise<void>;
  /** Keeps the counts for a later process. */
  save(): Promise<void>;
}

interface Wanted {
  readonly parts: readonly LogPartRow[];
  readonly keys: readonly FieldsKey[];
  readonly ticks: Ticks;
}

type MinLogs = Readonly<Record<CountStep, number>>;

/** Which parts are worth counting, and when. */
export interface CountOptions {
  /** A table without a part of this size is read as fast without counts. */
  readonly largePartRows: number;
  /** Younger parts are likely to be merged soon, small ones in particular. */
  readonly minAgeSeconds: { readonly large: number; readonly small: number };
  /** By the step of the counts: fewer logs for each count save too little, */
  readonly minLogsPerCount: MinLogs;
  /** The same of counts by a label, of which there are several, */
  readonly minLogsPerLabelCount: MinLogs;
  /**
   * except in parts with no more counts than this, by 10 s or longer: the statement itself takes
   * longer.
   */
  readonly fewCounts: number;
  /** Labels are counted unasked while fewer rows arrive. */
  readonly quietRowsPerSecond: number;
  /** Between two looks for parts to count, by reads that no counts answer yet. */
  readonly lookEveryMs: number;
  /** Between two looks for new parts after a read, until an hour after it. */
  readonly followEveryMs: number;
  /** Counts in memory, of 8 bytes each. */
  readonly maxCountsKept: number;
  /** Rows beside them in memory, in units of 8 bytes. */
  readonly maxRowsKept: number;
  /** Of the counts on disk; undefined = none. */
  readonly folder: string | undefined;
}

export const countDefaults: CountOptions = {
  largePartRows: 50_000,
  minAgeSeconds: { large: 5, small: 60 },
  minLogsPerCount: { 100: 60, 1_000: 60, 10_000: 20, 60_000: 4, 3_600_000: 4 },
  minLogsPerLabelCount: { 100: 60, 1_000: 60, 10_000: 60, 60_000: 12, 3_600_000: 12 },
  fewCounts: 20_000,
  quietRowsPerSecond: 20_000,
  lookEveryMs: 1_000,
  followEveryMs: 15_000,
  maxCountsKept: 8_000_000,
  maxRowsKept: 2_000_000,
  folder: undefined,
};

/** In ticks, with fractions. */
type Span = readonly [from: number, until: number];

export function createCountCache(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  options: CountOptions,
): CountCache {
  const { folder } = options;
  const entries = createEntries(options.maxCountsKept);
  const files =
    folder === undefined ? undefined : createCountFiles(connection, placement, { folder, entries });
  const spans = createPartSpans(connection, placement);
  let work: Promise<void> | undefined;
  /** By account and whether of all time, what was wanted last while others were counted. */
  const next = new Map<string, Wanted>();
  let listed: readonly LogPartRow[] = [];

  async function count(key: CountKey, rows: number): Promise<void> {
    const name = nameOf(key);
    entries.set(name, 'counting');
    for (const step of countSteps) {
      try {
        const maxCounts = maxCountsOf(rows, key, { step, options });
        const statement = compilePartCounts(placement, key, { step, maxCounts });
        const counted = await connection.query<PartCountRow>('housekeeping', statement);
        if (countsIn(counted) > maxCounts) continue;
        // A statement finds no rows of a part that a merge has replaced.
        if (!(await isActive(connection, placement, key.part))) entries.delete(name);
        else if (entries.has(name)) entries.keep(name, toPartCounts(step, counted));
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

  async function countAll(parts: readonly LogPartRow[], key: FieldsKey, ticks: Ticks) {
    await spans.load(key.accountId, parts);
    for (const [part, rows] of parts) {
      const span = spans.get(key.accountId, part);
      if (span === undefined || !isMostlyWithin(span, ticks)) continue;
      await count({ ...key, part }, Number(rows));
    }
  }

  const waiting = (parts: readonly LogPartRow[], key: FieldsKey) =>
    dueParts(parts, options).filter(([part]) => !entries.isSettled(nameOf({ ...key, part })));

  async function countNext(): Promise<void> {
    for (const [name, { parts, keys, ticks }] of next) {
      // What is wanted meanwhile comes last.
      next.delete(name);
      for (const key of keys) {
        // A later read tries again.
        await countAll(waiting(parts, key), key, ticks).catch(() => undefined);
      }
    }
  }

  return {
    hasRoom: entries.hasRoom,
    hasSome: (key) => entries.hasCounts(nameOf({ ...key, part: '' })),
    get: (key) => entries.counts(nameOf(key)),
    want(parts, keys, ticks) {
      if (!keys.some((key) => waiting(parts, key).length > 0)) return;
      const span = ticks.until === Infinity ? 'all' : 'some';
      next.set(`${keys[0]!.accountId} ${span}`, { parts, keys, ticks });
      work ??= countNext().finally(() => {
        work = undefined;
      });
    },
    follow(parts) {
      if (parts === listed) return;
      inheritCounts(entries, { before: listed, parts, options });
      listed = parts;
      const present = new Set(parts.map(([part]) => part));
      entries.keepOnly(present);
      spans.keepOnly(present);
    },
    settled: async () => work,
    // Counted again otherwise.
    load: async () => files?.load().catch(() => undefined),
    save: async () => files?.save(),
  };
}

/** Threads count groups separately, so a statement may exceed its limit. */
function countsIn(rows: readonly PartCountRow[]): number {
  return rows.reduce((sum, [, , ticks]) => sum + ticks.length, 0);
}

/** Those that are large or old enough to be counted. */
function dueParts(
  parts: readonly LogPartRow[],
  { largePartRows, minAgeSeconds }: CountOptions,
): readonly LogPartRow[] {
  const isLarge = ([, rows]: LogPartRow) => Number(rows) >= largePartRows;
  if (!parts.some(isLarge)) return [];
  return parts.filter((part) => part[2] >= minAgeSeconds[isLarge(part) ? 'large' : 'small']);
}

interface Bounds {
  readonly step: CountStep;
  readonly options: CountOptions;
}

function maxCountsOf(
  rows: number,
  { fields }: Pick<FieldsKey, 'fields'>,
  { step, options }: Bounds,
): number {
  const { minLogsPerCount, minLogsPerLabelCount, fewCounts } = options;
  const minLogs = (fields.some(isLabelField) ? minLogsPerLabelCount : minLogsPerCount)[step];
  return Math.max(step < 10_000 ? 0 : fewCounts, Math.ceil(rows / minLogs));
}

/** A part that is gone never comes back, so all rows of one that is there were there before. */
async function isActive(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  part: string,
): Promise<boolean> {
  const parts = await connection.query<LogPartRow>('housekeeping', compileLogParts(placement));
  return parts.some(([name]) => name === part);
}

interface NewParts {
  readonly before: readonly LogPartRow[];
  readonly parts: readonly LogPartRow[];
  readonly options: CountOptions;
}

function inheritCounts(
  entries: ReturnType<typeof createEntries>,
  { before, parts, options }: NewParts,
): void {
  const known = new Set(before.map(([part]) => part));
  for (const part of parts.filter(([name]) => !known.has(name))) {
    const sources = sourcesOf(part, before).map(([name]) => name);
    if (sources.length === 0) continue;
    entries.inherit(part[0], sources, (step) =>
      maxCountsOf(Number(part[1]), { fields: [] }, { step, options }),
    );
  }
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
        const toTick = (nanos: string) => Number(nanos) / Number(nanosPerTick);
        spans.set(nameFor(accountId, part), [toTick(fromNanos), toTick(untilNanos)]);
      }
    },
    keepOnly(present: ReadonlySet<string>): void {
      for (const name of spans.keys()) if (!present.has(partOf(name))) spans.delete(name);
    },
  };
}

/** Counting reads the whole part, so a read of a small piece of it does not pay for that. */
function isMostlyWithin([from, until]: Span, ticks: Ticks): boolean {
  const covered = Math.min(until, ticks.until) - Math.max(from, ticks.from);
  return covered >= (until - from) / 2;
}
