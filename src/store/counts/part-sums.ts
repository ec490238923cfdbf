/** Counts of parts, and rows of statements over the others, that add up to one moment's table. */
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { compileLogParts, type LogPartRow, type Scope } from '../sql/part-counts.ts';
import type { ReadLimits, Statement } from '../sql/statement.ts';
import { type CountCache, createCountCache, type FieldsKey } from './count-cache.ts';
import type { CountedPart, CountQuery } from './count-matches.ts';
import type { CountOptions } from './count-steps.ts';
import { countedPieces, hasSome, keptKey, keysOf, sortParts } from './gaps.ts';
import { createKeptRows, type Filling } from './kept-rows.ts';
import { createPartList, hasNames, haveSameNames } from './part-list.ts';
import { type TableChanges, unknownChanges } from './table-changes.ts';
import { type Ticks, ticksOf } from './ticks.ts';
import { createUnaskedKeys, type UnaskedKeys, usualKeys } from './unasked-keys.ts';

export interface Sums<Row> {
  /** Counts of parts and pieces, for each list of fields of the query. */
  readonly counts: readonly (readonly CountedPart[])[];
  /** Rows of the store for what the counts lack. */
  readonly rows: readonly Row[];
}

const allTicks = ticksOf({ fromNanos: undefined, untilNanos: undefined }, [], 1);

/** Merges and inserts between the statements of a read make it start again. */
const maxAttempts = 3;
const saveEveryMs = 300_000;
/** For so long after a read of an account, new parts are counted before its next read. */
const followMs = 3_600_000;

export function createPartSums(
  { connection, database, limits }: ReaderParts,
  options: CountOptions,
  changes: TableChanges = unknownChanges,
) {
  const placement = { database, cluster: undefined };
  const cache = createCountCache(connection, placement, options);
  const keptRows = createKeptRows(connection, placement, options.maxRowsKept);
  const parts = createPartList(
    ({ accountId, signal }) =>
      connection.read<LogPartRow>(compileLogParts(placement), { accountId, signal, isBrief: true }),
    changes,
    options.lookEveryMs,
  );
  const unasked = createUnaskedKeys(connection, placement, options);
  const loaded = cache.load();
  const countNew = createCountNew({ cache, unasked, list });
  // The next look repeats what fails.
  const look = () => countNew.look().catch(() => undefined);
  const following = setInterval(() => void look(), options.followEveryMs).unref();

  async function list(): Promise<readonly LogPartRow[]> {
    await loaded;
    const found = await parts.list({ accountId: 'counts' });
    follow(found);
    return found;
  }

  function follow(listed: readonly LogPartRow[]): void {
    cache.follow(listed);
    keptRows.follow(listed);
  }

  async function sumOf<Row>(query: CountQuery, filling: Filling): Promise<Sums<Row> | undefined> {
    const { key, context } = filling;
    const current = parts.ifCurrent();
    let listed = current ?? parts.ifQuiet();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const mayLackLogs = listed !== undefined && listed !== current;
      listed ??= await parts.list(context);
      follow(listed);
      cache.want(listed, wantedKeys(query), query.ticks);
      const { counts, gaps } = sortParts(cache, listed, query);
      if (counts[0]!.length === 0) return undefined;
      const filled = await Promise.all(gaps.map((gap) => keptRows.fill<Row>(gap, filling)));
      const isComplete = filled.every((each) => each.isComplete);
      const after = isComplete && !mayLackLogs ? listed : await parts.list(context);
      // A part that is gone never comes back, so all were there while the statements ran.
      if (mayLackLogs ? haveSameNames(listed, after) : hasNames(after, listed)) {
        keptRows.keep(key, filled);
        const pieces = countedPieces(query, key, filled);
        return {
          counts: counts.map((own) => [...own, ...pieces]),
          rows: filled.flatMap(({ rows }) => rows),
        };
      }
      listed = undefined;
    }
    return undefined;
  }

  return {
    /** @returns undefined when no part is counted, or the parts changed at each attempt */
    async sum<Row>(
      query: CountQuery,
      context: QueryContext,
      compile: (scope: Scope, limits: ReadLimits) => Statement,
    ): Promise<Sums<Row> | undefined> {
      await loaded;
      const { accountId } = query.filter;
      const [keys, ticks] = [wantedKeys(query), query.ticks];
      countNew.noteRead(accountId, { keys, ticks });
      if (!keysOf(query).every((key) => hasSome(cache, key, query))) {
        // Without a delay for this read.
        parts.inBackground(accountId, (listed) => cache.want(listed, keys, ticks));
        return undefined;
      }
      const filling = { key: keptKey(query), context, compile, time: startReadTime(limits) };
      return sumOf<Row>(query, filling);
    },
    settled: cache.settled,
    /** Counts no new parts any more, and saves the counts. */
    async close(): Promise<void> {
      clearInterval(following);
      await cache.save().catch(() => undefined);
    },
  };
}

/** By what the logs of an account are counted, and where. */
interface Wanted {
  readonly keys: readonly FieldsKey[];
  readonly ticks: Ticks;
}

interface CountNewParts {
  readonly cache: CountCache;
  readonly unasked: UnaskedKeys;
  list(): Promise<readonly LogPartRow[]>;
}

/** Counts parts that arrived, for accounts that were read lately and for large ones. */
function createCountNew({ cache, unasked, list }: CountNewParts) {
  const lastReads = new Map<string, Wanted & { readonly atMs: number }>();
  let savedAtMs = performance.now();
  return {
    noteRead(accountId: string, wanted: Wanted): void {
      lastReads.set(accountId, { ...wanted, atMs: performance.now() });
    },
    async look(): Promise<void> {
      for (const [accountId, { atMs }] of lastReads) {
        if (performance.now() - atMs > followMs) lastReads.delete(accountId);
      }
      const parts = await list();
      for (const { keys, ticks } of lastReads.values()) cache.want(parts, keys, ticks);
      for (const keys of await unasked.list(parts, cache.hasRoom())) {
        cache.want(parts, keys, allTicks);
      }
      if (performance.now() - savedAtMs < saveEveryMs) return;
      savedAtMs = performance.now();
      await cache.save();
    },
  };
}

function wantedKeys(query: CountQuery): FieldsKey[] {
  return [...keysOf(query), ...usualKeys(query.filter.accountId)];
}
