/**
 * Histograms, facets and statistics from counts by time where they are known, and from rows
 * elsewhere: parts that are not counted, and the steps that the edges of the range or of its
 * buckets cut. The result is exact, that of the parts which the table had at one moment. Only for a
 * single server.
 */
import type { GroupField } from '../../model/log-fields.ts';
import type {
  FacetsPlan,
  HistogramPlan,
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
import type { CountField } from '../sql/part-counts.ts';
import { compileValueCounts, type ValueCountRow } from '../sql/stats.ts';
import { tableName } from '../sql/tables.ts';
import type { CountOptions } from './count-steps.ts';
import {
  addMatches,
  type CountQuery,
  canCount,
  countedFields,
  isCounted,
} from './count-matches.ts';
import { createPartSums, type Sums } from './part-sums.ts';
import type { TableChanges } from './table-changes.ts';
import { ticksOf } from './ticks.ts';
import { type BucketCounts, statFields, toStatsGroups, type ValueGroup } from './value-stats.ts';

export type CountedReads = ReturnType<typeof createCountedReads>;

/** Values, in each bucket of a histogram, that are added up here. */
const maxValues = 20_000;

/** Each read is undefined where counts cannot answer, or save nothing. */
export function createCountedReads(
  reader: ReaderParts,
  options: CountOptions,
  changes?: TableChanges,
) {
  const table = tableName(reader.database, 'logs');
  const { sum, settled, close } = createPartSums(reader, options, changes);

  return {
    async histogram(plan: HistogramPlan, context: QueryContext) {
      const grouped = plan.groupBy ? [plan.groupBy] : [];
      const query = toQuery(plan.filter, [grouped], bucketEdgesMs(plan));
      if (query === undefined) return undefined;
      const sums = await sum<HistogramRow>(query, context, (scope, limits) =>
        compileHistogram(table, plan, { limits, scope, maxRows: maxValues }),
      );
      if (sums === undefined || sums.rows.length >= maxValues) return undefined;
      return toHistogramResult(plan, [...sums.rows, ...bucketRows(plan, query, sums)]);
    },
    async facets(plan: FacetsPlan, context: QueryContext) {
      const groupings = plan.fields.map((field) => [field]);
      const query = toQuery(plan.filter, groupings);
      if (query === undefined) return undefined;
      const sums = await sum<FacetCountRow>(query, context, (scope, limits) =>
        compileFacetCounts(table, plan, { limits, scope, maxValues }),
      );
      if (sums === undefined || sums.rows.length >= maxValues) return undefined;
      return topFacets(plan, valueCounts(plan, query, sums));
    },
    async stats(plan: StatsPlan, context: QueryContext): Promise<StatsResult | undefined> {
      const groupings = statFields(plan).map((field) => [...plan.by, ...(field ? [field] : [])]);
      const query = toQuery(plan.filter, groupings, bucketEdgesMs(plan));
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

/**
 * @param groupings the fields of each
 * @param edges Unix ms, which are ticks
 */
function toQuery(
  filter: LogFilter,
  groupings: readonly (readonly GroupField[])[],
  edges: readonly number[] = [],
): CountQuery | undefined {
  if (!canCount(filter) || !groupings.flat().every(isCounted)) return undefined;
  const fields = groupings.map((grouped) => {
    // Counts are by stream in any case.
    const own = grouped.filter((field): field is CountField => field !== 'streamId');
    return countedFields(filter, own);
  });
  const cutsFewHours = ticksOf(filter, edges, 3_600_000).cut.length <= 2;
  return { filter, fields, edges, ticks: ticksOf(filter, [], 1), cutsFewHours };
}

function bucketRows(
  plan: HistogramPlan,
  query: CountQuery,
  sums: Sums<HistogramRow>,
): HistogramRow[] {
  const grouped = plan.groupBy === undefined ? [] : [plan.groupBy];
  const bucketsOf = new Map<string, Float64Array>();
  for (const part of sums.counts[0]!) {
    addMatches(part, grouped, query.filter, ([value = '']) =>
      countsIn(bucketsOf, value, plan.buckets),
    );
  }
  return [...bucketsOf].flatMap(([value, buckets]) =>
    Array.from(buckets).flatMap((count, bucket): HistogramRow[] =>
      count === 0 ? [] : [[bucket, value, String(count)]],
    ),
  );
}

function countsIn(map: Map<string, Float64Array>, value: string, buckets: number): Float64Array {
  const counts = map.get(value) ?? new Float64Array(buckets);
  map.set(value, counts);
  return counts;
}

function valueCounts(
  plan: FacetsPlan,
  query: CountQuery,
  { counts, rows }: Sums<FacetCountRow>,
): Map<string, number>[] {
  const maps = plan.fields.map(() => new Map<string, Float64Array>());
  for (const [i, field] of plan.fields.entries()) {
    for (const part of counts[i]!) {
      addMatches(part, [field], query.filter, ([value]) => countsIn(maps[i]!, value!, 1));
    }
  }
  for (const [index, value, count] of rows) countsIn(maps[index]!, value, 1)[0]! += Number(count);
  return maps.map((map) => new Map([...map].map(([value, [count]]) => [value, count!])));
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
      addMatches(part, grouping, filter, (values) =>
        cells > maxCells ? undefined : countsOf(i, values),
      );
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
