/**
 * Histograms, facets and statistics from counts by time where they are known, and from rows
 * elsewhere: parts that are not counted, and the steps that the edges of the range or of its
 * buckets cut. The result is exact, that of the parts which the table had at one moment. Only for a
 * single server.
 */
import type { GroupField } from '../../model/log-fields.ts';
import type {
  Buckets,
  FacetsPlan,
  FacetsResult,
  HistogramPlan,
  HistogramResult,
  LogFilter,
  StatsPlan,
  StatsResult,
} from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import type { ReaderParts } from '../read-time.ts';
import { compileFacetCounts, type FacetCountRow, topFacets } from '../sql/facets.ts';
import {
  bucketEdgesMs,
  compileHistogram,
  type HistogramRow,
  toHistogramResult,
} from '../sql/histogram.ts';
import { type CountField, nanosPerTick } from '../sql/part-counts.ts';
import { compileValueCounts, type ValueCountRow } from '../sql/stats.ts';
import { tableName } from '../sql/tables.ts';
import { type CountOptions, countDefaults } from './count-cache.ts';
import {
  canCount,
  countedFields,
  type CountQuery,
  eachMatch,
  isCounted,
  wholeSteps,
} from './part-counts.ts';
import { createPartSums, type Sums } from './part-sums.ts';
import { ticksByStep } from './ticks.ts';
import { type BucketCounts, statFields, toStatsGroups, type ValueGroup } from './value-stats.ts';

/** Each is undefined where counts cannot answer, or save nothing. */
export interface CountedReads {
  histogram(plan: HistogramPlan, context: QueryContext): Promise<HistogramResult | undefined>;
  facets(plan: FacetsPlan, context: QueryContext): Promise<FacetsResult[] | undefined>;
  stats(plan: StatsPlan, context: QueryContext): Promise<StatsResult | undefined>;
  /** Resolves once no part waits to be counted. */
  settled(): Promise<void>;
  /** Counts no new parts any more, and saves the counts. */
  close(): Promise<void>;
}

const msPerTick = Number(nanosPerTick / 1_000_000n);

/** Values, in each bucket of a histogram, that are added up here. */
const maxValues = 20_000;

export function createCountedReads(
  reader: ReaderParts,
  options: CountOptions = countDefaults,
): CountedReads {
  const table = tableName(reader.database, 'logs');
  const { sum, settled, close } = createPartSums(reader, options);

  return {
    async histogram(plan, context) {
      const cuts = edgesNanos(plan);
      const query = toQuery(plan.filter, [plan.groupBy ? [plan.groupBy] : []], cuts);
      if (query === undefined) return undefined;
      const sums = await sum<HistogramRow>(query, context, (scope, limits) =>
        compileHistogram(table, plan, { limits, scope, maxRows: maxValues }),
      );
      if (sums === undefined || sums.rows.length >= maxValues) return undefined;
      return toHistogramResult(plan, [...sums.rows, ...bucketRows(plan, query, sums)]);
    },
    async facets(plan, context) {
      const groupings = plan.fields.map((field) => [field]);
      const query = toQuery(plan.filter, groupings);
      if (query === undefined) return undefined;
      const sums = await sum<FacetCountRow>(query, context, (scope, limits) =>
        compileFacetCounts(table, plan, { limits, scope, maxValues }),
      );
      if (sums === undefined || sums.rows.length >= maxValues) return undefined;
      return topFacets(plan, valueCounts(plan, query, sums));
    },
    async stats(plan, context) {
      const groupings = statFields(plan).map((field) => [...plan.by, ...(field ? [field] : [])]);
      const query = toQuery(plan.filter, groupings, edgesNanos(plan));
      if (query === undefined) return undefined;
      const fields = [...new Set(groupings.flat())];
      const sums = await sum<ValueCountRow>(query, context, (scope, limits) =>
        compileValueCounts(table, plan, { fields, limits, scope, maxRows: maxValues }),
      );
      if (sums === undefined || sums.rows.length >= maxValues) return undefined;
      const values = valueGroups(plan, query, { groupings, fields, sums });
      const groups = values && toStatsGroups(plan, values);
      return groups && { groups, isExact: true };
    },
    settled,
    close,
  };
}

function edgesNanos(plan: Buckets): bigint[] {
  return bucketEdgesMs(plan).map((edgeMs) => BigInt(edgeMs) * 1_000_000n);
}

/** @param groupings the fields of each */
function toQuery(
  filter: LogFilter,
  groupings: readonly (readonly GroupField[])[],
  cuts?: readonly bigint[],
): CountQuery | undefined {
  if (!canCount(filter) || !groupings.flat().every(isCounted)) return undefined;
  const fields = groupings.map((grouped) => {
    // Counts are by stream in any case.
    const own = grouped.filter((field): field is CountField => field !== 'streamId');
    return countedFields(filter, own);
  });
  return { filter, fields, ticks: ticksByStep(filter, cuts) };
}

function bucketRows(
  plan: HistogramPlan,
  query: CountQuery,
  sums: Sums<HistogramRow>,
): HistogramRow[] {
  const grouped = plan.groupBy === undefined ? [] : [plan.groupBy];
  const bucketsOf = new Map<string, number[]>();
  for (const part of sums.counts[0]!) {
    const isWhole = wholeSteps(part.ticks);
    const { ticks, counts } = part.counts;
    eachMatch(part, grouped, query.filter, ([value = ''], from, until) => {
      const buckets = bucketsOf.get(value) ?? Array.from({ length: plan.buckets }, () => 0);
      bucketsOf.set(value, buckets);
      for (let i = from; i < until; i++) {
        const tick = ticks[i]!;
        if (isWhole(tick)) buckets[bucketOf(plan, tick * msPerTick)]! += counts[i]!;
      }
    });
  }
  return [...bucketsOf].flatMap(([value, buckets]) =>
    buckets.flatMap((count, bucket): HistogramRow[] =>
      count === 0 ? [] : [[bucket, value, String(count)]],
    ),
  );
}

/** As `bucketSql`. */
function bucketOf({ startMs, endMs, buckets }: Buckets, timeMs: number): number {
  return Math.floor(((timeMs - startMs + 1) * buckets - 1) / (endMs - startMs));
}

function valueCounts(
  plan: FacetsPlan,
  query: CountQuery,
  { counts, rows }: Sums<FacetCountRow>,
): Map<string, number>[] {
  const maps = plan.fields.map(() => new Map<string, number>());
  const add = (index: number, value: string, count: number) => {
    const values = maps[index]!;
    values.set(value, (values.get(value) ?? 0) + count);
  };
  for (const [i, field] of plan.fields.entries()) {
    for (const part of counts[i]!) {
      const isWhole = wholeSteps(part.ticks);
      const { ticks, counts: numbers } = part.counts;
      eachMatch(part, [field], query.filter, ([value], from, until) => {
        let sum = 0;
        for (let k = from; k < until; k++) if (isWhole(ticks[k]!)) sum += numbers[k]!;
        if (sum > 0) add(i, value!, sum);
      });
    }
  }
  for (const [index, value, count] of rows) add(index, value, Number(count));
  return maps;
}

/** Numbers in memory while statistics are computed. */
const maxCells = 1_000_000;

interface GroupedSums {
  readonly groupings: readonly (readonly GroupField[])[];
  /** Of all groupings, as the rows have them. */
  readonly fields: readonly GroupField[];
  readonly sums: Sums<ValueCountRow>;
}

/** @returns undefined for too many groups and values */
function valueGroups(
  plan: StatsPlan,
  { filter }: CountQuery,
  { groupings, fields, sums }: GroupedSums,
): ValueGroup[] | undefined {
  const groups = new Map<string, ValueGroup>();
  let cells = 0;
  /** The counts to add to, of values in the order of a grouping. */
  const countsOf = (grouping: number, values: readonly string[]): BucketCounts => {
    const by = values.slice(0, plan.by.length);
    const key = JSON.stringify(by);
    const group = groups.get(key) ?? {
      values: by,
      fields: groupings.map(() => new Map<string, BucketCounts>()),
    };
    groups.set(key, group);
    const own = group.fields[grouping]!;
    const text = values[plan.by.length] ?? '';
    const counts = own.get(text) ?? new Float64Array(plan.buckets);
    if (!own.has(text)) cells += plan.buckets;
    own.set(text, counts);
    return counts;
  };
  for (const [i, grouping] of groupings.entries()) {
    for (const part of sums.counts[i]!) {
      const isWhole = wholeSteps(part.ticks);
      const { ticks, counts: numbers } = part.counts;
      eachMatch(part, grouping, filter, (values, from, until) => {
        if (cells > maxCells) return;
        const counts = countsOf(i, values);
        for (let k = from; k < until; k++) {
          const tick = ticks[k]!;
          if (isWhole(tick)) counts[bucketOf(plan, tick * msPerTick)]! += numbers[k]!;
        }
      });
    }
    const places = grouping.map((field) => fields.indexOf(field));
    for (const [bucket, values, count] of sums.rows) {
      if (cells > maxCells) return undefined;
      const own = places.map((place) => values[place]!);
      countsOf(i, own)[bucket]! += Number(count);
    }
  }
  return cells > maxCells ? undefined : [...groups.values()];
}
