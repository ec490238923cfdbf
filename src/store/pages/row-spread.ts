/**
 * How the logs of an account are spread over event time, from the primary index of the table. A
 * list chooses its windows by it. Rows that arrived since make a window larger, never wrong.
 */
import type { Connection } from '../connection.ts';
import { compileGranules, type GranuleRow } from '../sql/row-spread.ts';
import type { Placement } from '../sql/tables.ts';
import type { RowSpread } from '../sql/time-windows.ts';

export type RowSpreads = ReturnType<typeof createRowSpreads>;

const refreshMs = 10_000;
/** The newest of an account, of at most 16,384 rows each; 200 kB in memory. */
const maxGranules = 2_048;
const maxAccounts = 100;

interface Granule {
  readonly streamId: string;
  readonly fromNanos: bigint;
  readonly rows: number;
}

interface Entry {
  granules: Promise<readonly Granule[] | undefined>;
  readAtMs: number;
}

export function createRowSpreads(
  connection: Pick<Connection, 'read'>,
  placement: Placement,
  nowMs: () => number = Date.now,
) {
  const entries = new Map<string, Entry>();

  async function readGranules(accountId: string): Promise<readonly Granule[] | undefined> {
    try {
      const statement = compileGranules(placement, accountId, maxGranules);
      return (await connection.read<GranuleRow>(statement, { accountId })).map(toGranule);
    } catch {
      return undefined;
    }
  }

  function addEntry(accountId: string): Entry {
    const entry = { granules: readGranules(accountId), readAtMs: nowMs() };
    entries.set(accountId, entry);
    if (entries.size > maxAccounts) entries.delete(entries.keys().next().value!);
    return entry;
  }

  /** The last granules stay in use until the new ones are here. */
  function refresh(accountId: string, entry: Entry): void {
    entry.readAtMs = nowMs();
    const granules = readGranules(accountId);
    void granules.then(() => {
      entry.granules = granules;
    });
  }

  return {
    /** Waits only for the first spread of an account. @returns undefined after a failure */
    async of(accountId: string, streamIds: readonly string[]): Promise<RowSpread | undefined> {
      const entry = entries.get(accountId) ?? addEntry(accountId);
      if (nowMs() - entry.readAtMs >= refreshMs) refresh(accountId, entry);
      const granules = await entry.granules;
      return granules && toSpread(granules, new Set(streamIds));
    },
  };
}

function toGranule([streamId, fromNanos, rows]: GranuleRow): Granule {
  return { streamId, fromNanos: BigInt(fromNanos), rows: Number(rows) };
}

function toSpread(granules: readonly Granule[], streamIds: ReadonlySet<string>): RowSpread {
  return {
    isComplete: granules.length < maxGranules,
    granules: granules.filter(({ streamId }) => streamIds.has(streamId)),
  };
}
