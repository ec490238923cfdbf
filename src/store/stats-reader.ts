/** Statistics by time and groups, and histograms of groups that are one of them. */
import type { HistogramPlan, HistogramResult, StatsPlan, StatsResult } from '../model/plan.ts';
import type { QueryContext } from './connection.ts';
import { exceededLimit } from './failures.ts';
import { type ReaderParts, startReadTime } from './read-time.ts';
import {
  compileStats,
  compileTopGroups,
  type StatsRow,
  toGroupedHistogram,
  toStatsGroups,
  type TopGroupRow,
} from './sql/stats.ts';
import { tableName } from './sql/tables.ts';

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
    const top = isGrouped
      ? await connection.read<TopGroupRow>(compileTopGroups(table, plan, step()), context)
      : [];
    if (isGrouped && top.length === 0) return { groups: [], isExact: true };
    const statement = compileStats(table, plan, { ...step(), top });
    const rows = await connection.read<StatsRow>(statement, context);
    const groups = toStatsGroups(isGrouped ? top : undefined, rows);
    return { groups, isExact: quantiles === 'exact' };
  }

  try {
    return await read('exact');
  } catch (error) {
    const hasQuantiles = plan.stats.some(({ op }) => op === 'quantile');
    if (!hasQuantiles || exceededLimit(error) !== 'size') throw error;
    return read('sampled');
  }
}

/** A statement that groups by every value could have more groups than memory. */
export async function groupedHistogram(
  parts: ReaderParts,
  plan: HistogramPlan,
  context: QueryContext,
): Promise<HistogramResult> {
  const stats: StatsPlan = {
    ...plan,
    by: [plan.groupBy!],
    stats: [{ op: 'count', field: undefined }],
    limit: plan.topK,
  };
  return toGroupedHistogram(plan, (await readStats(parts, stats, context)).groups);
}
