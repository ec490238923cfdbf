/**
 * Finds damaged data that ClickHouse does not report by itself: detached parts, checksum errors of
 * reads and merges, and parts whose files differ from their checksums. Only a scrub finds the last:
 * with a flipped bit in an index or a row count reads succeed, and return wrong results.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import {
  type ActivePartRow,
  type CheckRow,
  compileActiveParts,
  compileCheckPart,
  compileCorruption,
  compileDetachedParts,
  type CorruptionRow,
  type DetachedRow,
} from './sql/part-health.ts';

type WatchedStore = Pick<ClickHouseStore, 'connection' | 'placement' | 'events'>;

export function createDamageWatch({ connection, placement, events }: WatchedStore) {
  let known = new Set<string>();
  const counted = new Map<string, number>();

  async function checkDetached(): Promise<void> {
    const query = compileDetachedParts(placement);
    const rows = await connection.query<DetachedRow>('housekeeping', query);
    const fresh = rows
      .filter(([, , , path]) => !known.has(path))
      .map(([table, part, reason, path]) => ({ table, part, reason, path }));
    known = new Set(rows.map(([, , , path]) => path));
    events.partsDetached(rows.length, fresh);
  }

  /** A server counts errors of all its databases, so a cluster's counts are not Weir's. */
  async function checkErrors(): Promise<void> {
    const rows = await connection.query<CorruptionRow>('housekeeping', compileCorruption());
    for (const [name, text, message] of rows) {
      const count = Number(text);
      const before = counted.get(name) ?? 0;
      // A new engine process counts from zero.
      const added = count >= before ? count - before : count;
      if (added > 0) events.corruptionFound({ name, count: added, message });
      counted.set(name, count);
    }
  }

  return {
    /** Reports damage that the last call did not. @throws errors of the connection */
    async check(): Promise<void> {
      await checkDetached();
      if (placement.cluster === undefined) await checkErrors();
    },
  };
}

/** A fifth of the time between two rounds of housekeeping. */
const scrubBudgetMs = 2_000;

/**
 * For a single server: the replicas of a cluster compare their parts themselves.
 * @param everyMs between two checks of a part; 0 = never
 * @param now Unix ms
 */
export function createScrub(
  { connection, placement, events }: WatchedStore,
  everyMs: number,
  now: () => number,
) {
  /** Unix ms of the last check, by path. */
  let checkedAt: Map<string, number> | undefined;
  const damaged = new Set<string>();

  async function findDue(): Promise<ActivePartRow[]> {
    const query = compileActiveParts(placement);
    const parts = await connection.query<ActivePartRow>('housekeeping', query);
    const before = checkedAt;
    const current = new Map<string, number>();
    for (const [, , path] of parts) {
      current.set(path, before === undefined ? 0 : (before.get(path) ?? now()));
    }
    checkedAt = current;
    for (const path of damaged) if (!current.has(path)) damaged.delete(path);
    return parts.filter(([, , path]) => now() - (current.get(path) ?? 0) >= everyMs);
  }

  async function check(row: ActivePartRow): Promise<void> {
    const [table, part, path] = row;
    const query = compileCheckPart(placement, row);
    const rows = await connection.query<CheckRow>('housekeeping', query);
    checkedAt?.set(path, now());
    const failed = rows.find(([, isPassed]) => isPassed !== 1);
    if (failed === undefined) {
      damaged.delete(path);
      return;
    }
    if (!damaged.has(path)) events.partDamaged({ table, part, path, message: failed[2] });
    damaged.add(path);
  }

  return {
    /**
     * Verifies the checksums of parts that are due, for about two seconds, unless the store is
     * busy. All parts of the first call are due; later ones were just written and are due after
     * `everyMs`.
     */
    async run(isBusy: boolean): Promise<void> {
      if (everyMs === 0 || placement.cluster !== undefined) return;
      const due = await findDue();
      if (!isBusy) {
        const deadline = performance.now() + scrubBudgetMs;
        while (due.length > 0 && performance.now() < deadline) await check(due.shift()!);
      }
      events.partsScrubbed({ due: due.length, damaged: damaged.size });
    },
  };
}
