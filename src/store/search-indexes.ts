/**
 * Builds the search indexes that inserts and merges omit, while few rows arrive, for parts that
 * lack them.
 */
import type { ClickHouseStore } from './clickhouse.ts';
import { compileIndexDay, compileParts, type PartRow } from './sql/housekeeping.ts';
import { compileIndexedParts } from './sql/search-indexes.ts';

/** While rows arrive, fewer than this are searched as fast without indexes. */
const worthIndexingRows = 500_000;
/** Rows of compact parts that may be rewritten for each row that gets its indexes. */
const maxRewrittenShare = 20;
/** After so many rounds all are built. */
const maxQuietRounds = 360;

export function createSearchIndexes({
  connection,
  placement,
  events,
}: Pick<ClickHouseStore, 'connection' | 'placement' | 'events'>) {
  /** A cluster builds them later than the statement ends. */
  let submittedParts: ReadonlySet<string> = new Set();
  /** Whether the store knows which parts have them; after an upgrade only once all were built. */
  let isKnown = false;
  /** Since which some parts wait. */
  let quietRounds = 0;

  const partsOnDisk = () => connection.query<PartRow>('housekeeping', compileParts(placement));
  const isWaiting = (part: PartRow) =>
    placement.cluster === undefined
      ? !isKnown || !isIndexed(part)
      : !submittedParts.has(partName(part));

  async function readKnown(): Promise<void> {
    if (isKnown || placement.cluster !== undefined) return;
    const statement = compileIndexedParts(placement);
    const [row] = await connection.query<[number]>('housekeeping', statement);
    isKnown = row?.[0] === 1;
  }

  async function buildFor(waiting: readonly PartRow[], parts: readonly PartRow[]) {
    const startedAt = performance.now();
    if (waiting.length === 0) return;
    const large = daysOfLargeGranules(parts);
    for (const day of daysOf(waiting)) {
      const granules = large.has(day) ? 'large' : 'small';
      await connection.execute('housekeeping', compileIndexDay(placement, day, granules));
    }
    if (waiting.length === parts.length) isKnown = true;
    quietRounds = 0;
    if (placement.cluster !== undefined) {
      // Parts that were merged meanwhile have a new name and no indexes.
      const submitted = new Set([...submittedParts, ...waiting.map(partName)]);
      const names = (await partsOnDisk()).map(partName);
      submittedParts = new Set(names.filter((name) => submitted.has(name)));
    }
    events.messagesIndexed(sumRows(waiting), (performance.now() - startedAt) / 1000);
  }

  return {
    /** Builds them for all parts that may lack them. */
    async build() {
      await readKnown();
      const parts = await partsOnDisk();
      await buildFor(parts.filter(isWaiting), parts);
    },
    /**
     * Builds them only once enough rows wait, and while rows arrive only for past days.
     * @param rowsPerSecond rate of inserts
     */
    async buildWhenQuiet(rowsPerSecond: number, isBusy: boolean): Promise<void> {
      await readKnown();
      const parts = await partsOnDisk();
      const waiting = parts.filter(isWaiting);
      quietRounds = waiting.length === 0 ? 0 : quietRounds + 1;
      const isDue =
        rowsPerSecond === 0
          ? isWorthRewriting(waiting, parts) || quietRounds >= maxQuietRounds
          : !isBusy && sumRows(waiting) >= worthIndexingRows;
      await buildFor(isDue ? waiting : rowsPerSecond > 0 ? ofPastDays(waiting) : [], parts);
      events.rowsUnindexed(sumRows((await partsOnDisk()).filter(isWaiting)));
    },
  };
}

function isIndexed([, , , , , isBuilt]: PartRow): boolean {
  return isBuilt === 1;
}

/** Indexes are built for whole days; every compact part of such a day is rewritten. */
function isWorthRewriting(waiting: readonly PartRow[], parts: readonly PartRow[]): boolean {
  const days = daysOf(waiting);
  const rewritten = parts.filter(([day, , , , isCompact]) => isCompact === 1 && days.has(day));
  return sumRows(waiting) * maxRewrittenShare >= sumRows(rewritten);
}

function daysOf(parts: readonly PartRow[]): ReadonlySet<string> {
  return new Set(parts.map(([day]) => day));
}

/** A part that was merged from both kinds has large ones. */
function daysOfLargeGranules(parts: readonly PartRow[]): ReadonlySet<string> {
  return daysOf(parts.filter(([, , , granules]) => granules === 'large'));
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
