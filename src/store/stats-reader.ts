/** Statistics by time and groups, and histograms of groups that are one of them. */
import type { HistogramPlan, HistogramResult, StatsPlan, StatsResult } from '../model/plan.ts';
import type { QueryContext } from './connection.ts';
import { exceededLimit } from './failures.ts';
import { type ReaderParts, startReadTime } from './read-time.ts';
import {
  compileRankedStats,
  compileStats,
  compileTopGroups,
  type RankedStatsRow,
  type StatsRow,
  toRankedGroups,
  toGroupedHistogram,
  toStatsGroups,
  type TopGroupRow,
} from './sql/stats.ts';
import { compileHistogram, type HistogramRow, toHistogramResult } from './sql/histogram.ts';
import { tableName } from './sql/tables.ts';

/** Pairs of bucket and group whose states one statement keeps. */
const maxRankedGroups = 20_000;

/** Quantiles are of a sample where all values need more memory than a read has. */
export async function readStats(
  { connection, database, limits }: ReaderParts,
  plan: StatsPlan,
  context: QueryContext,
): Promise<StatsResult> {
  const table = tableName(database, 'logs');
  const time = startReadTime(limits);
  const isGrouped = plan.by.length > 0;

  async function read(quantiles: 'exact' | 'sampled'): Promise<StatsResult> {
    const step = () => ({ limits: time.left(), quantiles });
    const ranked = isGrouped ? await readRanked(quantiles) : undefined;
    if (ranked !== undefined) return ranked;
    const top = isGrouped
      ? await connection.read<TopGroupRow>(compileTopGroups(table, plan, step()), context)
      : [];
    if (isGrouped && top.length === 0) return { groups: [], isExact: true };
    const statement = compileStats(table, plan, { ...step(), top });
    const rows = await connection.read<StatsRow>(statement, context);
    const groups = toStatsGroups(isGrouped ? top : undefined, rows);
    return { groups, isExact: quantiles === 'exact' };
  }

  /** @returns undefined if there are too many groups for one statement */
  async function readRanked(quantiles: 'exact' | 'sampled'): Promise<StatsResult | undefined> {
    const step = { limits: time.left(), quantiles, maxGroups: maxRankedGroups };
    try {
      const statement = compileRankedStats(table, plan, step);
      const rows = await connection.read<RankedStatsRow>(statement, context);
      return { groups: toRankedGroups(rows), isExact: quantiles === 'exact' };
    } catch (error) {
      if (exceededLimit(error) === undefined) throw error;
      return undefined;
    }
  }

  try {
    return await read('exact');
  } catch (error) {
    const hasQuantiles = plan.stats.some(({ op }) => op === 'quantile');
    if (!hasQuantiles || exceededLimit(error) !== 'size') throw error;
    return read('sampled');
  }
}

/** A result of more pairs of bucket and value would be large. */
const maxHistogramGroups = 20_000;

/** In one statement if there are few values, else the most frequent ones first. */
export async function groupedHistogram(
  parts: ReaderParts,
  plan: HistogramPlan,
  context: QueryContext,
): Promise<HistogramResult> {
  const { connection, database, limits } = parts;
  const time = startReadTime(limits);
  const step = { limits, maxGroups: maxHistogramGroups };
  const statement = compileHistogram(tableName(database, 'logs'), plan, step);
  try {
    return toHistogramResult(plan, await connection.read<HistogramRow>(statement, context));
  } catch (error) {
    if (exceededLimit(error) === undefined) throw error;
  }
  const stats: StatsPlan = {
    ...plan,
    by: [plan.groupBy!],
    stats: [{ op: 'count', field: undefined }],
    limit: plan.topK,
  };
  const { groups } = await readStats({ ...parts, limits: time.left() }, stats, context);
  return toGroupedHistogram(plan, groups);
}
