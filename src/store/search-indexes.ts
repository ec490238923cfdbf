/**
 * Builds the search indexes that inserts and merges leave out, when few rows arrive. It keeps in
 * mind which parts have them; after a start one pass over all, skipping those that do, finds out.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { tableName } from './sql/columns.ts';
import { compileIndexDay, compileParts, type PartRow } from './sql/housekeeping.ts';

export interface SearchIndexParts {
  readonly store: Pick<ClickHouseStore, 'connection' | 'database' | 'events' | 'insertedRows'>;
  /** Unix ms. */
  readonly now: () => number;
}

export interface SearchIndexes {
  /** Builds them for every part that may lack them. */
  build(): Promise<void>;
  /** The same, unless too many rows arrived since the last call, or too few wait to be worth it. */
  buildWhenQuiet(quietRowsPerSecond: number): Promise<void>;
}

/** Fewer rows than this are searched as fast without, so while more arrive they can wait. */
const worthIndexingRows = 500_000;

export function createSearchIndexes({ store, now }: SearchIndexParts): SearchIndexes {
  const { connection, database, events } = store;
  const table = tableName(database, 'logs');
  let indexedParts: ReadonlySet<string> = new Set();
  let lastLook = { rows: store.insertedRows(), atMs: now() };

  const partsOnDisk = () => connection.query<PartRow>('housekeeping', compileParts(database));
  const waitingParts = async () =>
    (await partsOnDisk()).filter((part) => !indexedParts.has(partName(part)));

  async function build() {
    const startedAt = performance.now();
    const waiting = await waitingParts();
    if (waiting.length === 0) return;
    for (const day of new Set(waiting.map(([partition]) => partition))) {
      await connection.execute('housekeeping', compileIndexDay(table, day));
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
    build,
    async buildWhenQuiet(quietRowsPerSecond) {
      const rate = takeInsertRate();
      if (rate > quietRowsPerSecond) return;
      if (rate === 0 || sumRows(await waitingParts()) >= worthIndexingRows) await build();
    },
  };
}

function partName([partition, blocks]: PartRow): string {
  return `${partition}_${blocks}`;
}

function sumRows(parts: readonly PartRow[]): number {
  return parts.reduce((sum, [, , rows]) => sum + Number(rows), 0);
}
