/** Counts of parts, and rows of statements over the others, that add up to one moment's table. */
import { type EqualityField, equalityFields } from '../../model/log-fields.ts';
import type { LogFilter } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { dayStartMs } from '../sql/housekeeping.ts';
import {
  compileLogParts,
  type CountField,
  type CountStep,
  type LogPartRow,
  type Scope,
} from '../sql/part-counts.ts';
import type { ReadLimits, Statement } from '../sql/statement.ts';
import {
  type CountCache,
  type CountOptions,
  createCountCache,
  type FieldsKey,
} from './count-cache.ts';
import { type Minutes, minutesOf } from './minutes.ts';
import type { CountedPart, CountQuery, PartCounts } from './part-counts.ts';
import { createPartList, hasNames, haveSameNames } from './part-list.ts';

export interface Sums<Row> {
  /** For each list of fields of the query, the counts of the parts that are counted. */
  readonly counts: readonly (readonly CountedPart[])[];
  /** Of the other parts, and of the minutes or hours that the query cuts. */
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
  /** Counts no new parts any more. */
  close(): void;
}

/** What an overview asks for, counted before the first question. */
const usualFields = [['severity'], ['serviceName'], ['host']] as const satisfies EqualityField[][];
const allMinutes = minutesOf({ fromNanos: undefined, untilNanos: undefined });
const allTogether = equalityFields.filter((field) => usualFields.flat().includes(field as never));

/** Merges and inserts between the statements of a read make it start again. */
const maxAttempts = 3;
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
  const lastReads = new Map<string, LastRead>();
  const following = setInterval(countNew, options.followEveryMs).unref();

  function countNew(): void {
    for (const [accountId, { atMs }] of lastReads) {
      if (performance.now() - atMs > followMs) lastReads.delete(accountId);
    }
    const [accountId] = lastReads.keys();
    if (accountId === undefined) {
      void countUnasked().catch(() => undefined);
      return;
    }
    parts.inBackground(accountId, (listed) => {
      cache.follow(listed);
      for (const { keys, minutes } of lastReads.values()) cache.want(listed, keys, minutes);
    });
  }

  /** Before the first read, what an overview of the largest account asks for. */
  async function countUnasked(): Promise<void> {
    const accountId = await cache.largestAccount();
    if (accountId === undefined) return;
    const keys = usualFields.map((fields) => ({ accountId, fields }));
    parts.inBackground(accountId, (listed) => {
      cache.follow(listed);
      cache.want(listed, keys, allMinutes);
    });
  }

  return {
    async sum<Row>(
      query: CountQuery,
      context: QueryContext,
      compile: (scope: Scope, limits: ReadLimits) => Statement,
    ): Promise<Sums<Row> | undefined> {
      const keys = keysOf(query);
      const wanted = withUsual(keys);
      const { accountId } = query.filter;
      lastReads.set(accountId, {
        keys: wanted,
        minutes: query.minutes[1],
        atMs: performance.now(),
      });
      if (!keys.every((key) => hasSome(cache, key, query))) {
        // Without a delay for this read.
        parts.inBackground(accountId, (listed) => cache.want(listed, wanted, query.minutes[1]));
        return undefined;
      }
      const time = startReadTime(limits);
      const brief = { ...context, isBrief: true };
      let listed = parts.ifQuiet();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const isOld = listed !== undefined;
        listed ??= await parts.list(context);
        cache.follow(listed);
        cache.want(listed, wanted, query.minutes[1]);
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
    close: () => clearInterval(following),
  };
}

/** By what the logs of an account were counted last, and where. */
interface LastRead {
  readonly keys: readonly FieldsKey[];
  readonly minutes: Minutes;
  readonly atMs: number;
}

function keysOf({ filter, fields }: CountQuery) {
  return fields.map((list) => ({ accountId: filter.accountId, fields: list }));
}

/** Which parts the counts answer for, and what is left to read. */
function sortParts(cache: CountCache, listed: readonly LogPartRow[], query: CountQuery) {
  const { filter, minutes } = query;
  const keys = keysOf(query);
  const counts: CountedPart[][] = keys.map(() => []);
  const names: Record<CountStep | 'others', string[]> = { 1: [], 60: [], others: [] };
  const spans: Record<CountStep, PartCounts['span'][]> = { 1: [], 60: [] };
  for (const [part] of listed) {
    const own = isVisible(part, filter)
      ? keys.flatMap((key) => find(cache, part, key, query) ?? [])
      : [];
    const step = own.some((one) => one.counts.step === 60) ? 60 : 1;
    const isCounted = own.length === keys.length;
    if (isCounted) {
      spans[step].push(own[0]!.counts.span);
      for (const [i, one] of own.entries()) {
        counts[i]!.push({ ...one, minutes: minutes[step] });
      }
    }
    names[isCounted ? step : 'others'].push(part);
  }
  const cuts = ([1, 60] as const).map((step): Scope => {
    const hasLogs = (minute: number) =>
      spans[step].some(([from, until]) => minute + step > from && minute <= until);
    return { parts: names[step], times: { step, minutes: minutes[step].cut.filter(hasLogs) } };
  });
  const scopes = [...cuts, { parts: names.others }];
  return { counts, scopes: scopes.filter((scope) => !isEmpty(scope)) };
}

/** By the fields of the query, or else by more; those by hour answer if few hours are cut. */
function fittingKeys(key: FieldsKey, { minutes }: CountQuery): FieldsKey[] {
  const wider = usualFields.filter((fields) => isSubset(key.fields, fields));
  const isWide = minutes[60].cut.length <= 2 && isSubset(key.fields, allTogether);
  return [key.fields, ...wider, ...(isWide ? [allTogether] : [])].map((fields) => ({
    ...key,
    fields,
  }));
}

function find(cache: CountCache, part: string, key: FieldsKey, query: CountQuery) {
  for (const { accountId, fields } of fittingKeys(key, query)) {
    const counts = cache.get({ part, accountId, fields });
    if (counts !== undefined) return { fields, counts };
  }
  return undefined;
}

function hasSome(cache: CountCache, key: FieldsKey, query: CountQuery): boolean {
  return fittingKeys(key, query).some((each) => cache.hasSome(each));
}

/** Those by all fields together take long to count, and only answer for several fields. */
function withUsual(keys: readonly FieldsKey[]): FieldsKey[] {
  const { accountId } = keys[0]!;
  const lists: (readonly CountField[])[] = [...usualFields];
  if (keys.some(({ fields }) => fields.length > 1 && isSubset(fields, allTogether))) {
    lists.push(allTogether);
  }
  return [...keys, ...lists.map((fields) => ({ accountId, fields }))];
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
  return parts.length === 0 || times?.minutes.length === 0;
}
