/**
 * Reads every part once in a while and compares its files with their checksums: a flipped bit in an
 * index or a row count is otherwise met by no read, and silently answers wrong. For a single
 * server; the replicas of a cluster check their parts against each other.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import {
  type ActivePartRow,
  type CheckRow,
  compileActiveParts,
  compileCheckPart,
} from './sql/part-health.ts';

export interface ScrubOptions {
  /** Between two checks of a part; 0 = never. */
  readonly everyMs: number;
  /** Parts are checked only while fewer rows than this arrive, averaged over a round. */
  readonly quietRowsPerSecond: number;
}

export interface ScrubParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'insertedRows'>;
  /** Unix ms. */
  readonly now: () => number;
}

export interface Scrub {
  /**
   * Checks parts that are due, for about two seconds. Parts found by the first call are due; later
   * ones were just written and are due an interval after.
   */
  run(): Promise<void>;
}

/** A fifth of the time between two rounds of housekeeping. */
const budgetMs = 2_000;

export function createScrub({ store, now }: ScrubParts, options: ScrubOptions): Scrub {
  const { connection, placement, events } = store;
  /** Unix ms of the last check, by path. */
  let checkedAt: Map<string, number> | undefined;
  const damaged = new Set<string>();
  let lastLook = { rows: store.insertedRows(), atMs: now() };

  function isQuiet(): boolean {
    const look = { rows: store.insertedRows(), atMs: now() };
    const seconds = Math.max(look.atMs - lastLook.atMs, 1) / 1000;
    const rate = (look.rows - lastLook.rows) / seconds;
    lastLook = look;
    return rate < options.quietRowsPerSecond;
  }

  async function findDue(): Promise<ActivePartRow[]> {
    const query = compileActiveParts(placement);
    const parts = await connection.query<ActivePartRow>('housekeeping', query);
    const before = checkedAt;
    const known = parts.map(([, , path]) => {
      const at = before === undefined ? 0 : (before.get(path) ?? now());
      return [path, at] as const;
    });
    checkedAt = new Map(known);
    const present = new Set(checkedAt.keys());
    for (const path of damaged) if (!present.has(path)) damaged.delete(path);
    return parts.filter(([, , path]) => now() - (checkedAt?.get(path) ?? 0) >= options.everyMs);
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
    async run() {
      if (options.everyMs === 0 || placement.cluster !== undefined) return;
      const isBusy = !isQuiet();
      const due = await findDue();
      if (!isBusy) {
        const deadline = performance.now() + budgetMs;
        while (due.length > 0 && performance.now() < deadline) await check(due.shift()!);
      }
      events.partsScrubbed({ due: due.length, damaged: damaged.size });
    },
  };
}
