/** Counts of parts, and rows of statements over the others, that add up to one moment's table. */
import type { LogFilter } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { dayStartMs } from '../sql/housekeeping.ts';
import { compileLogParts, countSteps, type LogPartRow, type Scope } from '../sql/part-counts.ts';
import type { ReadLimits, Statement } from '../sql/statement.ts';
import {
  type CountCache,
  type CountOptions,
  createCountCache,
  type FieldsKey,
} from './count-cache.ts';
import type { CountedPart, CountQuery } from './part-counts.ts';
import { createPartList, hasNames, haveSameNames } from './part-list.ts';
import { type Ticks, ticksByStep } from './ticks.ts';
import {
  allTogether,
  createUnaskedKeys,
  usualFields,
  usualKeys,
  withService,
} from './unasked-keys.ts';

export interface Sums<Row> {
  /** For each list of fields of the query, the counts of the parts that are counted. */
  readonly counts: readonly (readonly CountedPart[])[];
  /** Of the other parts, and of the steps that the query cuts. */
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
  /** Counts no new parts any more, and saves the counts. */
  close(): Promise<void>;
}

const allTicks = ticksByStep({ fromNanos: undefined, untilNanos: undefined })[1];

/** Merges and inserts between the statements of a read make it start again. */
const maxAttempts = 3;
const saveEveryMs = 300_000;
/** For so long after a read of an account, new parts are counted before its next read. */
const followMs = 3_600_000;

export function createPartSums(
  { connection, database, limits }: ReaderParts,
  options: CountOptions,
): PartSums {
  const placement = { database, cluster: undefined };
  const cache = createCountCache(connection, placement, options);
  const parts = createPartList(
    ({ accountId, signal }) =>
      connection.read<LogPartRow>(compileLogParts(placement), { accountId, signal, isBrief: true }),
    options.lookEveryMs,
  );
  const unasked = createUnaskedKeys(connection, placement, options);
  const lastReads = new Map<string, LastRead>();
  const loaded = cache.load();
  // The next look repeats what fails.
  const look = () => countNew().catch(() => undefined);
  const following = setInterval(() => void look(), options.followEveryMs).unref();
  let savedAtMs = performance.now();

  /** Parts that arrived, for accounts that were read lately and for large ones. */
  async function countNew(): Promise<void> {
    for (const [accountId, { atMs }] of lastReads) {
      if (performance.now() - atMs > followMs) lastReads.delete(accountId);
    }
    await loaded;
    const listed = await parts.list({ accountId: 'counts' });
    cache.follow(listed);
    for (const { keys, ticks } of lastReads.values()) cache.want(listed, keys, ticks);
    for (const keys of await unasked.list(listed, cache.hasRoom())) {
      cache.want(listed, keys, allTicks);
    }
    if (performance.now() - savedAtMs < saveEveryMs) return;
    savedAtMs = performance.now();
    await cache.save();
  }

  return {
    async sum<Row>(
      query: CountQuery,
      context: QueryContext,
      compile: (scope: Scope, limits: ReadLimits) => Statement,
    ): Promise<Sums<Row> | undefined> {
      await loaded;
      const keys = keysOf(query);
      const { accountId } = query.filter;
      const wanted = [...keys, ...usualKeys(accountId)];
      lastReads.set(accountId, {
        keys: wanted,
        ticks: query.ticks[1],
        atMs: performance.now(),
      });
      if (!keys.every((key) => hasSome(cache, key, query))) {
        // Without a delay for this read.
        parts.inBackground(accountId, (listed) => cache.want(listed, wanted, query.ticks[1]));
        return undefined;
      }
      const time = startReadTime(limits);
      const brief = { ...context, isBrief: true };
      let listed = parts.ifQuiet();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const isOld = listed !== undefined;
        listed ??= await parts.list(context);
        cache.follow(listed);
        cache.want(listed, wanted, query.ticks[1]);
        const { counts, scopes } = sortParts(cache, listed, query);
        if (counts[0]!.length === 0) return undefined;
        const rows = await Promise.all(
          scopes.map((scope) => connection.read<Row>(compile(scope, time.left()), brief)),
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
    async close() {
      clearInterval(following);
      await cache.save().catch(() => undefined);
    },
  };
}

/** By what the logs of an account were counted last, and where. */
interface LastRead {
  readonly keys: readonly FieldsKey[];
  readonly ticks: Ticks;
  readonly atMs: number;
}

function keysOf({ filter, fields }: CountQuery) {
  return fields.map((list) => ({ accountId: filter.accountId, fields: list }));
}

/** Which parts the counts answer for, and what is left to read. */
function sortParts(cache: CountCache, listed: readonly LogPartRow[], query: CountQuery) {
  const { filter, ticks } = query;
  const keys = keysOf(query);
  const counted: { readonly part: string; readonly own: readonly Found[] }[] = [];
  const others: string[] = [];
  for (const [part] of listed) {
    const own = isVisible(part, filter)
      ? keys.flatMap((key) => find(cache, part, key, query) ?? [])
      : [];
    if (own.length === keys.length) counted.push({ part, own });
    else others.push(part);
  }
  // Rows are read once for all groupings of a part, by its longest step.
  const longest = (own: readonly Found[]) => Math.max(...own.map((one) => one.counts.step));
  // One statement reads the parts by 10 s and by the minute, unless that means many more rows.
  const minutes = ticks[600];
  const areFewCut = minutes.cut.length * 600 * 10 <= minutes.until - minutes.from;
  const isByMinute = areFewCut && counted.some(({ own }) => longest(own) === 600);
  const stepOf = (own: readonly Found[]) => {
    const step = longest(own);
    return countSteps.find((each) => each >= step && !(each === 100 && isByMinute))!;
  };
  const counts = keys.map((_, i) =>
    counted.map(({ own }): CountedPart => ({ ...own[i]!, ticks: ticks[stepOf(own)] })),
  );
  const cuts = countSteps.map((step): Scope => {
    const parts = counted.filter(({ own }) => stepOf(own) === step);
    const hasLogs = (tick: number) =>
      parts.some(({ own }) => {
        const [from, until] = own[0]!.counts.span;
        return tick + step > from && tick < until + step;
      });
    const names = parts.map(({ part }) => part);
    return { parts: names, times: { step, ticks: ticks[step].cut.filter(hasLogs) } };
  });
  const scopes = [...cuts, { parts: others }];
  return { counts, scopes: scopes.filter((scope) => !isEmpty(scope)) };
}

type Found = Omit<CountedPart, 'ticks'>;

/** By the fields of the query, or else by more; those by hour answer if few hours are cut. */
function fittingKeys(key: FieldsKey, { ticks }: CountQuery): FieldsKey[] {
  const wider = [...usualFields, withService(key.fields)].filter((fields) =>
    isSubset(key.fields, fields),
  );
  const isWide = ticks[36_000].cut.length <= 2 && isSubset(key.fields, allTogether);
  return [key.fields, ...wider, ...(isWide ? [allTogether] : [])].map((fields) => ({
    ...key,
    fields,
  }));
}

function find(
  cache: CountCache,
  part: string,
  key: FieldsKey,
  query: CountQuery,
): Found | undefined {
  for (const { accountId, fields } of fittingKeys(key, query)) {
    const counts = cache.get({ part, accountId, fields });
    if (counts !== undefined) return { fields, counts };
  }
  return undefined;
}

function hasSome(cache: CountCache, key: FieldsKey, query: CountQuery): boolean {
  return fittingKeys(key, query).some((each) => cache.hasSome(each));
}

function isSubset<T>(some: readonly T[], all: readonly T[]): boolean {
  return some.every((one) => all.includes(one));
}

/** Whether no stream hides rows of the part by their time of receipt. */
function isVisible(part: string, { streams }: LogFilter): boolean {
  const dayNanos = BigInt(dayStartMs(part.slice(0, part.indexOf('_')))) * 1_000_000n;
  return streams.every(({ receivedFromNanos }) => receivedFromNanos <= dayNanos);
}

function isEmpty({ parts, times }: Scope): boolean {
  return parts.length === 0 || times?.ticks.length === 0;
}
