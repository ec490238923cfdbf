/** Counts of parts, and rows of statements over the others, that add up to one moment's table. */
import type { LogFilter } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { dayStartMs } from '../sql/housekeeping.ts';
import { compileLogParts, type LogPartRow, type Scope } from '../sql/part-counts.ts';
import type { ReadLimits, Statement } from '../sql/statement.ts';
import { type CountOptions, createCountCache } from './count-cache.ts';
import type { CountQuery, PartCounts } from './part-counts.ts';
import { createPartList, hasNames, haveSameNames } from './part-list.ts';

export interface Sums<Row> {
  /** For each list of fields of the query, the counts of the parts that are counted. */
  readonly counts: readonly (readonly PartCounts[])[];
  /** Of the other parts, and of the minutes that the query cuts. */
  readonly rows: readonly Row[];
}

export interface PartSums {
  /** @returns undefined when no part is counted, or the parts changed at each attempt */
  sum<Row>(
    query: CountQuery,
    context: QueryContext,
    compile: (scope: Scope, limits: ReadLimits) => Statement,
  ): Promise<Sums<Row> | undefined>;
  /** Resolves once no part waits to be counted. */
  settled(): Promise<void>;
}

/** Merges and inserts between the statements of a read make it start again. */
const maxAttempts = 3;

export function createPartSums(
  { connection, database, limits }: ReaderParts,
  options: CountOptions,
): PartSums {
  const placement = { database, cluster: undefined };
  const cache = createCountCache(connection, placement, options);
  const parts = createPartList(
    ({ accountId, signal }) =>
      connection.read<LogPartRow>(compileLogParts(placement), { accountId, signal }),
    options.lookEveryMs,
  );

  function sort(listed: readonly LogPartRow[], query: CountQuery) {
    const { filter, minutes } = query;
    const keys = keysOf(query);
    cache.keepOnly(listed);
    cache.want(listed, keys, minutes);
    const counts: PartCounts[][] = keys.map(() => []);
    const names = { counted: [] as string[], others: [] as string[] };
    for (const [part] of listed) {
      const own = keys.flatMap((key) => cache.get({ ...key, part }) ?? []);
      const isCounted = own.length === keys.length && isVisible(part, filter);
      if (isCounted) for (const [i, one] of own.entries()) counts[i]!.push(one);
      names[isCounted ? 'counted' : 'others'].push(part);
    }
    const { cut } = minutes;
    const scopes: Scope[] = [{ parts: names.counted, minutes: cut }, { parts: names.others }];
    return { counts, scopes: scopes.filter((scope) => !isEmpty(scope)) };
  }

  return {
    async sum<Row>(
      query: CountQuery,
      context: QueryContext,
      compile: (scope: Scope, limits: ReadLimits) => Statement,
    ): Promise<Sums<Row> | undefined> {
      const keys = keysOf(query);
      if (!keys.every((key) => cache.hasSome(key))) {
        // Without a delay for this read.
        const { accountId } = query.filter;
        parts.inBackground(accountId, (listed) => cache.want(listed, keys, query.minutes));
        return undefined;
      }
      const time = startReadTime(limits);
      let listed = parts.ifQuiet();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const isOld = listed !== undefined;
        listed ??= await parts.list(context);
        const { counts, scopes } = sort(listed, query);
        if (counts[0]!.length === 0) return undefined;
        const rows = await Promise.all(
          scopes.map((scope) => connection.read<Row>(compile(scope, time.left()), context)),
        );
        const after = await parts.list(context);
        // A part that is gone never comes back, so all were there while the statements ran.
        if (isOld ? haveSameNames(listed, after) : hasNames(after, listed)) {
          return { counts, rows: rows.flat() };
        }
        listed = undefined;
      }
      return undefined;
    },
    settled: cache.settled,
  };
}

function keysOf({ filter, fields }: CountQuery) {
  return fields.map((list) => ({ accountId: filter.accountId, fields: list }));
}

/** Whether no stream hides rows of the part by their time of receipt. */
function isVisible(part: string, { streams }: LogFilter): boolean {
  const dayNanos = BigInt(dayStartMs(part.slice(0, part.indexOf('_')))) * 1_000_000n;
  return streams.every(({ receivedFromNanos }) => receivedFromNanos <= dayNanos);
}

function isEmpty({ parts, minutes }: Scope): boolean {
  return parts.length === 0 || minutes?.length === 0;
}
