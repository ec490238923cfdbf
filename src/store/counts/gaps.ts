/** Splits a query into parts that counts in memory answer, and gaps that need rows. */
import type { LogFilter } from '../../model/plan.ts';
import { dayStartMs } from '../sql/housekeeping.ts';
import {
  byStep,
  type CountField,
  type CountStep,
  countSteps,
  type LogPartRow,
} from '../sql/part-counts.ts';
import type { CountCache, FieldsKey } from './count-cache.ts';
import type { CountedPart, CountQuery } from './count-matches.ts';
import type { Filled, Gap } from './kept-rows.ts';
import type { PartCounts } from './part-counts.ts';
import { rowsOf } from './part-list.ts';
import { clipped, ticksOf, wholeSegments } from './ticks.ts';
import { allTogether, usualFields, withService } from './unasked-keys.ts';

export function keysOf({ filter, fields }: CountQuery) {
  return fields.map((list) => ({ accountId: filter.accountId, fields: list }));
}

/**
 * The fields by which rows of a query are kept. Severity and service are among them, so that other
 * queries of the same range find the rows.
 */
export function keptKey({ filter, fields }: CountQuery): FieldsKey {
  const all = withService([...new Set<CountField>(['severity', ...fields.flat()])]);
  return { accountId: filter.accountId, fields: all };
}

export function countedPieces(
  { filter, edges }: CountQuery,
  { fields }: FieldsKey,
  filled: readonly Filled<unknown>[],
): CountedPart[] {
  const all = wholeSegments(ticksOf(filter, [], 1), edges, 1);
  return filled.flatMap(({ gap: { step }, pieces }) =>
    pieces.map(({ tick, rows }) => {
      const isStep = step !== undefined && tick !== undefined;
      return { fields, counts: rows, segments: isStep ? clipped(all, tick, tick + step) : all };
    }),
  );
}

/** Which parts the counts answer for, and what is left to read. */
export function sortParts(cache: CountCache, listed: readonly LogPartRow[], query: CountQuery) {
  const { filter, edges, ticks } = query;
  const keys = keysOf(query);
  const counted: { readonly part: LogPartRow; readonly own: readonly Found[] }[] = [];
  const others: LogPartRow[] = [];
  for (const part of listed) {
    const own = isVisible(part[0], filter)
      ? keys.flatMap((key) => find(cache, part[0], key, query) ?? [])
      : [];
    if (own.length === keys.length) counted.push({ part, own });
    else others.push(part);
  }
  // Rows are read once for all groupings of a part, by its longest step.
  const longest = (own: readonly Found[]) => Math.max(...own.map((one) => one.counts.step));
  // One statement reads the parts by 10 s and by the minute, unless that means many more rows.
  const minutes = ticks[60_000];
  const areFewCut = minutes.cut.length * 60_000 * 10 <= minutes.until - minutes.from;
  const isByMinute = areFewCut && counted.some(({ own }) => longest(own) === 60_000);
  const stepOf = (own: readonly Found[]) => {
    const step = longest(own);
    return countSteps.find((each) => each >= step && !(each === 10_000 && isByMinute))!;
  };
  const segments = byStep((step) => wholeSegments(ticks[step], edges, step));
  const counts = keys.map((_, i) =>
    counted.map(({ own }): CountedPart => ({ ...own[i]!, segments: segments[stepOf(own)] })),
  );
  // A log at a fraction of a tick may be on either side of an end of the range within it.
  const isByTick = ticksOf(filter, [], 1).cut.length === 0;
  const cuts = countSteps.map((step): Gap => {
    const parts = counted.filter(({ own }) => stepOf(own) === step);
    let rows = 0;
    const pieces = parts.flatMap(({ part, own }) => {
      const [from, until] = own[0]!.counts.span;
      const cut = ticks[step].cut.filter((tick) => tick + step > from && tick < until + step);
      rows += cut.length * rowsInStep(Number(part[1]), own[0]!.counts, step);
      return cut.map((tick) => ({ part: part[0], tick }));
    });
    return { step, pieces, rows: isByTick ? rows : Infinity };
  });
  const isKnown = isByTick && others.every(([part]) => isVisible(part, filter));
  const whole = others.map(([part]) => ({ part, tick: undefined }));
  const rest: Gap = { step: undefined, pieces: whole, rows: isKnown ? rowsOf(others) : Infinity };
  return { counts, gaps: [...cuts, rest].filter(({ pieces }) => pieces.length > 0) };
}

/** An estimate, or more: the group with logs in the most steps tells how many steps have some. */
function rowsInStep(rows: number, { starts, step: own }: PartCounts, step: CountStep): number {
  let steps = 1;
  for (let i = 1; i < starts.length; i++) steps = Math.max(steps, starts[i]! - starts[i - 1]!);
  return (rows / steps) * (step / own);
}

type Found = Pick<CountedPart, 'fields'> & { readonly counts: PartCounts };

/** By the fields of the query, or else by more; those by hour answer if few hours are cut. */
function fittingKeys(key: FieldsKey, { ticks }: CountQuery): FieldsKey[] {
  const wider = [...usualFields, withService(key.fields)].filter((fields) =>
    isSubset(key.fields, fields),
  );
  const isWide = ticks[3_600_000].cut.length <= 2 && isSubset(key.fields, allTogether);
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

export function hasSome(cache: CountCache, key: FieldsKey, query: CountQuery): boolean {
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
