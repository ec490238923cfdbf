/** The counts of parts in memory, by part, account and fields, and what is known of others. */
import type { CountKey } from '../sql/part-counts.ts';
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
/** By name. Of the counts that take too much memory, those large and long unused go first. */
export function createEntries(maxCountsKept: number) {
  const entries = new Map<string, Entry>();
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
    /** A part with the rows of others has the sum of their counts, at most `maxCounts`. */
    inherit(part: string, sources: readonly string[], maxCounts: number): void {
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
    },
  };
}

function keptOf(entry: Entry | undefined): Kept | undefined {
  return typeof entry === 'object' && 'counts' in entry ? entry : undefined;
}

function sumOf(entries: readonly (Entry | undefined)[], maxCounts: number): Entry | undefined {
  if (entries.every((entry) => entry === 'too many')) return 'too many';
  const dropped = entries.find((entry) => typeof entry === 'object' && keptOf(entry) === undefined);
  if (dropped !== undefined) return dropped;
  const kept = entries.flatMap((entry) => keptOf(entry) ?? []);
  const steps = new Set(kept.map(({ counts }) => counts.step));
  if (kept.length < entries.length || steps.size > 1) return undefined;
  const counts = addPartCounts(kept.map((each) => each.counts));
  const usedAtMs = Math.max(...kept.map((each) => each.usedAtMs));
  return counts.counts.length <= maxCounts ? { counts, usedAtMs } : undefined;
}

export function nameOf({ part, accountId, fields }: CountKey): string {
  return [part, accountId, ...fields.map(encodeURIComponent)].join(' ');
}

export function partOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}
