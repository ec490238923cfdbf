/** Splits a query into parts that counts in memory answer, and gaps that need rows. */
import type { LogFilter } from '../../model/plan.ts';
import { dayStartMs } from '../sql/housekeeping.ts';
import {
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
import { clipped, ticksOf, wholeSegments, within } from './ticks.ts';
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
  { ticks, edges }: CountQuery,
  { fields }: FieldsKey,
  filled: readonly Filled<unknown>[],
): CountedPart[] {
  const all = wholeSegments(ticks, edges, 1);
  return filled.flatMap(({ gap: { step }, pieces }) =>
    pieces.map(({ tick, rows }) => {
      const isStep = step !== undefined && tick !== undefined;
      return { fields, counts: rows, segments: isStep ? clipped(all, tick, tick + step) : all };
    }),
  );
}

/** Which parts the counts answer for, and what is left to read. */
export function sortParts(cache: CountCache, listed: readonly LogPartRow[], query: CountQuery) {
  const { filter } = query;
  const keys = keysOf(query);
  const counted: Counted[] = [];
  const others: LogPartRow[] = [];
  for (const part of listed) {
    const own = isVisible(part[0], filter)
      ? keys.flatMap((key) => find(cache, part[0], key, query) ?? [])
      : [];
    if (own.length === keys.length) counted.push({ part, own });
    else others.push(part);
  }
  const cut = cutParts(counted, query);
  const counts = keys.map((_, i) =>
    cut.map(({ own, ticks, edges: inner, step }): CountedPart => {
      return { ...own[i]!, segments: wholeSegments(ticks, inner, step) };
    }),
  );
  // A log at a fraction of a tick may be on either side of an end of the range within it.
  const isByTick = query.ticks.cut.length === 0;
  const gaps = countSteps.map((step): Gap => {
    const parts = cut.filter((one) => one.step === step);
    const pieces = parts.flatMap((one) => one.cut.map((tick) => ({ part: one.part[0], tick })));
    return { step, pieces, rows: isByTick ? rowsCut(parts) : Infinity };
  });
  const isKnown = isByTick && others.every(([part]) => isVisible(part, filter));
  const whole = others.map(([part]) => ({ part, tick: undefined }));
  const rest: Gap = { step: undefined, pieces: whole, rows: isKnown ? rowsOf(others) : Infinity };
  return { counts, gaps: [...gaps, rest].filter(({ pieces }) => pieces.length > 0) };
}

interface Counted {
  readonly part: LogPartRow;
  /** For each key of the query. */
  readonly own: readonly Found[];
}

/**
 * By equal steps of up to a minute, so that one statement reads all parts and the rows answer when
 * the range has moved by less, unless these are many rows.
 */
function cutParts(counted: readonly Counted[], { filter, edges }: CountQuery) {
  const cutBy = (shortest: CountStep) =>
    counted.map(({ part, own }) => {
      const { span } = own[0]!.counts;
      const [first, last] = span;
      // Rows are read once for all groupings of a part, by its longest step.
      const step = own.reduce((most, one) => maxStep(most, one.counts.step), shortest);
      const inner = within(filter, edges, span);
      const ticks = ticksOf(inner.range, inner.edges, step);
      const cut = ticks.cut.filter((tick) => tick + step > first && tick <= last);
      const isCut = cut.length > 0;
      const rows = isCut ? cut.length * rowsInStep(Number(part[1]), own[0]!.counts, step) : 0;
      return { part, own, step, edges: inner.edges, ticks, cut, rows };
    });
  for (const step of [60_000, 10_000, 1_000] as const) {
    const cut = cutBy(step);
    if (rowsCut(cut) <= maxRowsAhead) return cut;
  }
  return cutBy(100);
}

const maxRowsAhead = 40_000;

function rowsCut(parts: readonly { readonly rows: number }[]): number {
  return parts.reduce((sum, { rows }) => sum + rows, 0);
}

function maxStep(a: CountStep, b: CountStep): CountStep {
  return a > b ? a : b;
}

/** An estimate, or more: the group with logs in the most steps tells how many steps have some. */
function rowsInStep(rows: number, { starts, step: own }: PartCounts, step: CountStep): number {
  let steps = 1;
  for (let i = 1; i < starts.length; i++) steps = Math.max(steps, starts[i]! - starts[i - 1]!);
  return (rows / steps) * (step / own);
}

type Found = Pick<CountedPart, 'fields'> & { readonly counts: PartCounts };

/** By the fields of the query, or else by more; those by hour answer if few hours are cut. */
function fittingKeys(key: FieldsKey, { cutsFewHours }: CountQuery): FieldsKey[] {
  const wider = [...usualFields, withService(key.fields)].filter((fields) =>
    isSubset(key.fields, fields),
  );
  const isWide = cutsFewHours && isSubset(key.fields, allTogether);
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
