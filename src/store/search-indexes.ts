/**
 * Builds the search indexes that inserts and merges leave out, when few rows arrive. It keeps in
 * mind which parts have them; after a start one pass over all, skipping those that do, finds out.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { compileIndexDay, compileParts, type PartRow } from './sql/housekeeping.ts';

export interface SearchIndexParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'placement' | 'events' | 'insertedRows'>;
  /** Unix ms. */
  readonly now: () => number;
}

export interface SearchIndexes {
  /** Builds them for every part that may lack them. */
  build(): Promise<void>;
  /**
   * The same, unless too few rows wait to be worth it; while too many arrive, only for the days
   * that are over.
   */
  buildWhenQuiet(quietRowsPerSecond: number): Promise<void>;
}

/** Fewer rows than this are searched as fast without, so while more arrive they can wait. */
const worthIndexingRows = 500_000;

export function createSearchIndexes({ store, now }: SearchIndexParts): SearchIndexes {
  const { connection, placement, events } = store;
  let indexedParts: ReadonlySet<string> = new Set();
  let lastLook = { rows: store.insertedRows(), atMs: now() };

  const partsOnDisk = () => connection.query<PartRow>('housekeeping', compileParts(placement));
  const waitingParts = async () =>
    (await partsOnDisk()).filter((part) => !indexedParts.has(partName(part)));

  async function buildFor(waiting: readonly PartRow[]) {
    const startedAt = performance.now();
    if (waiting.length === 0) return;
    for (const day of new Set(waiting.map(([partition]) => partition))) {
      await connection.execute('housekeeping', compileIndexDay(placement, day));
    }
    // What was merged meanwhile has a new name, and lacks them again.
    const built = new Set([...indexedParts, ...waiting.map(partName)]);
    const names = (await partsOnDisk()).map(partName);
    indexedParts = new Set(names.filter((name) => built.has(name)));
    events.messagesIndexed(sumRows(waiting), (performance.now() - startedAt) / 1000);
  }

  /** Rows a second since the last look. */
  function takeInsertRate(): number {
    const look = { rows: store.insertedRows(), atMs: now() };
    const seconds = Math.max(look.atMs - lastLook.atMs, 1) / 1000;
    const rate = (look.rows - lastLook.rows) / seconds;
    lastLook = look;
    return rate;
  }

  return {
    build: async () => buildFor(await waitingParts()),
    async buildWhenQuiet(quietRowsPerSecond) {
      const rate = takeInsertRate();
      const waiting = await waitingParts();
      if (rate > quietRowsPerSecond) await buildFor(ofDaysThatAreOver(waiting));
      else if (rate === 0 || sumRows(waiting) >= worthIndexingRows) await buildFor(waiting);
      events.rowsUnindexed(sumRows(await waitingParts()));
    },
  };
}

/** Rows arrive in the newest day alone, so what is built for the others lasts. */
function ofDaysThatAreOver(parts: readonly PartRow[]): PartRow[] {
  const newest = parts.reduce((day, [partition]) => (partition > day ? partition : day), '');
  return parts.filter(([partition]) => partition < newest);
}

function partName([partition, blocks]: PartRow): string {
  return `${partition}_${blocks}`;
}

function sumRows(parts: readonly PartRow[]): number {
  return parts.reduce((sum, [, , rows]) => sum + Number(rows), 0);
}
