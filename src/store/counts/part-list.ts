/** The active parts of the table of logs, read as seldom as a consistent result allows. */
import type { QueryContext } from '../connection.ts';
import type { LogPartRow } from '../sql/part-counts.ts';
import type { TableChanges } from './table-changes.ts';

export function createPartList(
  read: (context: QueryContext) => Promise<readonly LogPartRow[]>,
  changes: TableChanges,
  lookEveryMs: number,
) {
  let last: readonly LogPartRow[] | undefined;
  let lastStamp: number | undefined;
  let isQuiet = false;
  let lookedAtMs = -Infinity;
  let looking: Promise<readonly LogPartRow[]> | undefined;

  /** The parts as they are now. */
  async function list(context: QueryContext): Promise<readonly LogPartRow[]> {
    const stamp = changes.stamp();
    const parts = await read(context);
    lastStamp = stamp === changes.stamp() ? stamp : undefined;
    isQuiet = last !== undefined && haveSameNames(last, parts);
    last = parts;
    return parts;
  }

  return {
    list,
    /** The last list, if it has all logs: parts may have been merged since. */
    ifCurrent() {
      const isCurrent = lastStamp !== undefined && lastStamp === changes.stamp();
      return isCurrent ? last : undefined;
    },
    /**
     * The last list, while parts do not change. A result for its parts holds only if a list taken
     * afterwards has the same names.
     */
    ifQuiet: () => (isQuiet ? last : undefined),
    /** Lists them for `use` without waiting, at most every `lookEveryMs`; calls share a list. */
    inBackground(accountId: string, use: (parts: readonly LogPartRow[]) => void): void {
      if (looking === undefined) {
        if (performance.now() - lookedAtMs < lookEveryMs) return;
        lookedAtMs = performance.now();
        looking = list({ accountId }).finally(() => {
          looking = undefined;
        });
      }
      void looking.then(use, () => undefined);
    },
  };
}

export function rowsOf(parts: readonly LogPartRow[]): number {
  return parts.reduce((sum, [, rows]) => sum + Number(rows), 0);
}

export function haveSameNames(a: readonly LogPartRow[], b: readonly LogPartRow[]): boolean {
  return a.length === b.length && hasNames(a, b);
}

/** Whether `all` has each of `some`. */
export function hasNames(all: readonly LogPartRow[], some: readonly LogPartRow[]): boolean {
  const names = new Set(all.map(([name]) => name));
  return some.every(([name]) => names.has(name));
}

/**
 * The parts of an earlier list whose rows a new part has, exactly: a mutation that builds an index
 * or a merge made it from them. ClickHouse numbers blocks as it commits them, so a list with the
 * first and the last block of a part has every part between them. An equal number of rows tells
 * that none was deleted.
 * @returns empty if they are not known
 */
export function sourcesOf(part: LogPartRow, before: readonly LogPartRow[]): readonly LogPartRow[] {
  const [day, first, last] = blocksOf(part);
  const within = before.filter((each) => {
    const [ownDay, ownFirst, ownLast] = blocksOf(each);
    return ownDay === day && ownFirst >= first && ownLast <= last;
  });
  const isWhole =
    within.some((each) => blocksOf(each)[1] === first) &&
    within.some((each) => blocksOf(each)[2] === last);
  return isWhole && rowsOf(within) === Number(part[1]) ? within : [];
}

export function isMerged([name]: LogPartRow): boolean {
  return name.split('_')[3] !== '0';
}

/** Names are `day_first_last_level`, and a mutation adds its number. */
function blocksOf([name]: LogPartRow): [day: string, first: number, last: number] {
  const [day = '', first, last] = name.split('_');
  return [day, Number(first), Number(last)];
}
