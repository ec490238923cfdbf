/**
 * Builds the search indexes that inserts and merges omit, while few rows arrive. Which parts
 * have them is kept in memory; after a start one pass over all parts skips those that do.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { compileIndexDay, compileParts, type PartRow } from './sql/housekeeping.ts';

/** While rows arrive, fewer than this are searched as fast without indexes. */
const worthIndexingRows = 500_000;

export function createSearchIndexes({
  connection,
  placement,
  events,
}: Pick<ClickHouseStore, 'connection' | 'placement' | 'events'>) {
  let indexedParts: ReadonlySet<string> = new Set();

  const partsOnDisk = () => connection.query<PartRow>('housekeeping', compileParts(placement));
  const waitingParts = async () =>
    (await partsOnDisk()).filter((part) => !indexedParts.has(partName(part)));

  async function buildFor(waiting: readonly PartRow[]) {
    const startedAt = performance.now();
    if (waiting.length === 0) return;
    const large = daysOfLargeGranules(await partsOnDisk());
    for (const day of new Set(waiting.map(([partition]) => partition))) {
      const granules = large.has(day) ? 'large' : 'small';
      await connection.execute('housekeeping', compileIndexDay(placement, day, granules));
    }
    // Parts that were merged meanwhile have a new name and no indexes.
    const built = new Set([...indexedParts, ...waiting.map(partName)]);
    const names = (await partsOnDisk()).map(partName);
    indexedParts = new Set(names.filter((name) => built.has(name)));
    events.messagesIndexed(sumRows(waiting), (performance.now() - startedAt) / 1000);
  }

  return {
    /** Builds them for all parts that may lack them. */
    build: async () => buildFor(await waitingParts()),
    /**
     * Builds them only once enough rows wait, and while the store is busy only for past days.
     * @param rowsPerSecond rate of inserts
     */
    async buildWhenQuiet(rowsPerSecond: number, isBusy: boolean): Promise<void> {
      const waiting = await waitingParts();
      const isWorth = rowsPerSecond === 0 || sumRows(waiting) >= worthIndexingRows;
      if (isBusy) await buildFor(ofPastDays(waiting));
      else if (isWorth) await buildFor(waiting);
      events.rowsUnindexed(sumRows(await waitingParts()));
    },
  };
}

/** A part that was merged from both kinds has large ones. */
function daysOfLargeGranules(parts: readonly PartRow[]): ReadonlySet<string> {
  return new Set(parts.filter(([, , , granules]) => granules === 'large').map(([day]) => day));
}

/** Rows arrive in the newest day only, so merges rarely undo the indexes of the others. */
function ofPastDays(parts: readonly PartRow[]): PartRow[] {
  const newest = parts.reduce((day, [partition]) => (partition > day ? partition : day), '');
  return parts.filter(([partition]) => partition < newest);
}

function partName([partition, blocks]: PartRow): string {
  return `${partition}_${blocks}`;
}

function sumRows(parts: readonly PartRow[]): number {
  return parts.reduce((sum, [, , rows]) => sum + Number(rows), 0);
}
