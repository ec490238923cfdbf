/** The counts of parts in memory, by part, account and fields, and what is known of others. */
import type { CountKey, CountStep } from '../sql/part-counts.ts';
import { addPartCounts, type PartCounts } from './part-counts.ts';

/** Dropped counts are not made again sooner, or those of one read would displace each other. */
const restMs = 600_000;
/** When it was dropped, as others needed the memory. */
type Dropped = { readonly droppedAtMs: number };
interface Kept {
  readonly counts: PartCounts;
  usedAtMs: number;
}
type Entry = Kept | 'counting' | 'too many' | Dropped;
type MaxCounts = (step: CountStep) => number;

/** Name without the part, and its counts; undefined = too many. */
export type SettledEntry = readonly [ending: string, counts: PartCounts | undefined];

export type CountEntries = ReturnType<typeof createEntries>;

/** By name. Of the counts that take too much memory, those large and long unused go first. */
export function createEntries(maxCountsKept: number) {
  const entries = new Map<string, Entry>();
  const revisions = new Map<string, number>();
  const sizeOf = (entry: Entry | undefined) => keptOf(entry)?.counts.size ?? 0;
  let size = 0;

  function set(name: string, entry: Entry | undefined): void {
    size += sizeOf(entry) - sizeOf(entries.get(name));
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
    if (keptOf(entry) === undefined && entry !== 'too many') return;
    revisions.set(partOf(name), revisionOf(partOf(name)) + 1);
  }

  const revisionOf = (part: string) => revisions.get(part) ?? 0;

  function dropOne(): void {
    const nowMs = performance.now();
    const cost = (entry: Entry) => sizeOf(entry) * (nowMs - (keptOf(entry)?.usedAtMs ?? nowMs));
    let worst: readonly [string, Entry] | undefined;
    for (const each of entries) {
      if (worst === undefined || cost(each[1]) > cost(worst[1])) worst = each;
    }
    set(worst![0], { droppedAtMs: nowMs });
  }

  function keep(name: string, counts: PartCounts): void {
    // Before the new ones are there, so that those are not dropped.
    while (size > 0 && size + counts.size > maxCountsKept) dropOne();
    set(name, { counts, usedAtMs: performance.now() });
  }

  return {
    /** Whether more counts displace none soon. */
    hasRoom: () => size < maxCountsKept / 2,
    has: (name: string) => entries.has(name),
    /** Whether it need not be counted now. */
    isSettled(name: string): boolean {
      const entry = entries.get(name);
      if (typeof entry !== 'object' || 'counts' in entry) return entry !== undefined;
      return performance.now() - entry.droppedAtMs < restMs;
    },
    delete: (name: string) => set(name, undefined),
    set,
    keep,
    counts(name: string): PartCounts | undefined {
      const kept = keptOf(entries.get(name));
      if (kept !== undefined) kept.usedAtMs = performance.now();
      return kept?.counts;
    },
    hasCounts(ending: string): boolean {
      return [...entries].some(([name, entry]) => sizeOf(entry) > 0 && name.endsWith(ending));
    },
    /** A part with the rows of others has the sum of their counts, if these are not too many. */
    inherit(part: string, sources: readonly string[], maxCounts: MaxCounts): void {
      const [first = ''] = sources;
      for (const name of [...entries.keys()].filter((each) => partOf(each) === first)) {
        const ending = name.slice(first.length);
        const entry = sumOf(
          sources.map((source) => entries.get(source + ending)),
          maxCounts,
        );
        if (entry !== undefined) set(part + ending, entry);
      }
    },
    keepOnly(present: ReadonlySet<string>): void {
      for (const name of entries.keys()) if (!present.has(partOf(name))) set(name, undefined);
      for (const part of revisions.keys()) if (!present.has(part)) revisions.delete(part);
    },
    /** Grows with each of its counts. */
    revisionOf,
    /** What need not be counted again. */
    settledOf(part: string): SettledEntry[] {
      return [...entries].flatMap(([name, entry]): SettledEntry[] => {
        const counts = keptOf(entry)?.counts;
        const isSettled = counts !== undefined || entry === 'too many';
        return isSettled && partOf(name) === part ? [[name.slice(part.length), counts]] : [];
      });
    },
    restore(part: string, [ending, counts]: SettledEntry): void {
      if (counts === undefined) set(part + ending, 'too many');
      else keep(part + ending, counts);
    },
  };
}

function keptOf(entry: Entry | undefined): Kept | undefined {
  return typeof entry === 'object' && 'counts' in entry ? entry : undefined;
}

function sumOf(entries: readonly (Entry | undefined)[], maxCounts: MaxCounts): Entry | undefined {
  if (entries.every((entry) => entry === 'too many')) return 'too many';
  const dropped = entries.find((entry) => typeof entry === 'object' && keptOf(entry) === undefined);
  if (dropped !== undefined) return dropped;
  const kept = entries.flatMap((entry) => keptOf(entry) ?? []);
  if (kept.length < entries.length) return undefined;
  const counts = addPartCounts(kept.map((each) => each.counts));
  const usedAtMs = Math.max(...kept.map((each) => each.usedAtMs));
  return counts.ticks.length <= maxCounts(counts.step) ? { counts, usedAtMs } : undefined;
}

export function nameOf({ part, accountId, fields }: CountKey): string {
  return [part, accountId, ...fields.map(encodeURIComponent)].join(' ');
}

export function partOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}
