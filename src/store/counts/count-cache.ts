/**
 * Counts of the logs in parts of the table, in memory. Parts never change, so neither do their
 * counts; a merge or a deletion makes new parts. Counting runs in the background, after a read that
 * would have used the counts, one part at a time.
 */
import type { Connection } from '../connection.ts';
import { exceededLimit, lacksTotalMemory } from '../failures.ts';
import {
  type CountKey,
  compileLogParts,
  compilePartCounts,
  compilePartSpans,
  type LogPartRow,
  nanosPerTick,
  type PartCountRow,
  type PartSpanRow,
} from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';
import { type CountEntries, createEntries, nameOf, partOf } from './count-entries.ts';
import { createCountFiles } from './count-files.ts';
import { type CountOptions, type Countable, createStepTrials, maxCountsOf } from './count-steps.ts';
import { toPartCounts } from './part-counts.ts';
import { isMerged, sourcesOf } from './part-list.ts';
import type { Ticks } from './ticks.ts';

/** An account, and fields by which its logs are counted. */
export type FieldsKey = Omit<CountKey, 'part'>;

export type CountCache = ReturnType<typeof createCountCache>;

interface Wanted {
  readonly parts: readonly LogPartRow[];
  readonly keys: readonly FieldsKey[];
  readonly ticks: Ticks;
}

/** In ticks, with fractions. */
type Span = readonly [from: number, until: number];

export function createCountCache(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  options: CountOptions,
) {
  const { folder } = options;
  const entries = createEntries(options.maxCountsKept);
  const files =
    folder === undefined ? undefined : createCountFiles(connection, placement, { folder, entries });
  const spans = createPartSpans(connection, placement);
  const count = createCounter(connection, placement, { entries, options });
  let work: Promise<void> | undefined;
  /** By account and whether of all time, what was wanted last while others were counted. */
  const next = new Map<string, Wanted>();
  let listed: readonly LogPartRow[] = [];

  async function countAll(parts: readonly LogPartRow[], key: FieldsKey, ticks: Ticks) {
    await spans.load(key.accountId, parts);
    for (const [part, rowsText] of parts) {
      const span = spans.get(key.accountId, part);
      if (span === undefined || !isMostlyWithin(span, ticks)) continue;
      const rows = Number(rowsText);
      await count({ ...key, part }, { rows, logsPerMs: rows / (span[1] - span[0] + 1) });
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
    /** Whether there is memory for counts that may not be used. */
    hasRoom: entries.hasRoom,
    /** Whether any part is counted by these fields. */
    hasSome: (key: FieldsKey) => entries.hasCounts(nameOf({ ...key, part: '' })),
    /** @returns the counts of a part, unless they are not here yet or take too much memory */
    get: (key: CountKey) => entries.counts(nameOf(key)),
    /**
     * Counts parts in the background that lie mostly within the ticks and are not counted. The keys
     * are of one account.
     */
    want(parts: readonly LogPartRow[], keys: readonly FieldsKey[], ticks: Ticks): void {
      if (!keys.some((key) => waiting(parts, key).length > 0)) return;
      const span = ticks.until === Infinity ? 'all' : 'some';
      next.set(`${keys[0]!.accountId} ${span}`, { parts, keys, ticks });
      work ??= countNext().finally(() => {
        work = undefined;
      });
    },
    /** Takes over the counts of merged parts, and forgets parts that are gone. */
    follow(parts: readonly LogPartRow[]): void {
      if (parts === listed) return;
      inheritCounts(entries, { before: listed, parts, options });
      listed = parts;
      const present = new Set(parts.map(([part]) => part));
      entries.keepOnly(present);
      spans.keepOnly(present);
    },
    /** Resolves once no part waits to be counted. */
    settled: async () => work,
    /** Takes over what an earlier process counted. What cannot be read is counted again. */
    load: async () => files?.load().catch(() => undefined),
    /** Keeps the counts for a later process. */
    save: async () => files?.save(),
  };
}

interface Counting {
  readonly entries: CountEntries;
  readonly options: CountOptions;
}

/** Counts one part by the shortest step that leaves few enough counts. */
function createCounter(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  { entries, options }: Counting,
) {
  const trials = createStepTrials(options);

  return async function count(key: CountKey, part: Countable): Promise<void> {
    const name = nameOf(key);
    entries.set(name, 'counting');
    const steps = trials.list(key, part);
    // All have failed in a part like this: such parts are looked at again when that is forgotten.
    if (steps.length === 0) {
      entries.delete(name);
      return;
    }
    /** Whether the longest step leaves too many, rather than others taking the memory meanwhile. */
    let isTooMuch = false;
    for (const trial of steps) {
      const { step, maxCounts } = trial;
      try {
        const statement = compilePartCounts(placement, key, { step, maxCounts });
        const counted = await connection.query<PartCountRow>('housekeeping', statement);
        // A statement finds no rows of a part that a merge has replaced.
        const isSeen = counted.length > 0 || (await isActive(connection, placement, key.part));
        if (!isSeen) entries.delete(name);
        else if (entries.has(name)) entries.keep(name, toPartCounts(step, counted));
        return;
      } catch (error) {
        if (exceededLimit(error) === undefined) {
          // Tried again by a later read.
          entries.delete(name);
          return;
        }
        isTooMuch = !lacksTotalMemory(error);
      }
      trials.noteFailure(trial);
    }
    if (isTooMuch) entries.set(name, 'too many');
    else entries.delete(name);
  };
}

/** Those that are large or old enough to be counted. */
function dueParts(
  parts: readonly LogPartRow[],
  { largePartRows, minAgeSeconds }: CountOptions,
): readonly LogPartRow[] {
  const isLarge = ([, rows]: LogPartRow) => Number(rows) >= largePartRows;
  if (!parts.some(isLarge)) return [];
  const kindOf = (part: LogPartRow) => (isLarge(part) && isMerged(part) ? 'merged' : 'other');
  return parts.filter((part) => part[2] >= minAgeSeconds[kindOf(part)]);
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
      maxCountsOf(Number(part[1]), [], { step, options }),
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
