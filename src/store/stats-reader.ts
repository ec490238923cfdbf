/** Statistics by time and groups, and histograms of groups that are one of them. */
import type { HistogramPlan, HistogramResult, StatsPlan, StatsResult } from '../model/plan.ts';
import type { QueryContext } from './connection.ts';
import { exceededLimit } from './failures.ts';
import { type ReaderParts, type ReadTime, startReadTime } from './read-time.ts';
import {
  compileEstimate,
  compileRankedStats,
  compileStats,
  compileTopGroups,
  type EstimateRow,
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

interface Sampling {
  /** Blocks are chosen for about so many logs. */
  readonly rows: number;
  /** Where a sample has fewer logs, all are read. */
  readonly minSampled: number;
}

const usualSampling: Sampling = { rows: 400_000, minSampled: 50_000 };
/** A sample of most blocks is as slow as all of them. */
const minBlocks = 3;

/** Quantiles alone are of a sample of blocks where many logs match, unless they must be exact. */
export async function readStats(
  parts: ReaderParts & { readonly sampling?: Sampling },
  plan: StatsPlan,
  context: QueryContext,
): Promise<StatsResult> {
  const { sampling = usualSampling } = parts;
  const time = startReadTime(parts.limits);
  const read = (own: StatsPlan, form: StatsForm) =>
    readOnce(parts, own, { ...form, time, context });
  const isOfQuantiles = plan.stats.every(({ op }) => op === 'quantile');
  if (isOfQuantiles && !plan.isExact) {
    const every = Math.ceil((await estimateRows(parts, plan, context)) / sampling.rows);
    if (every >= minBlocks) {
      const counted: StatsPlan = {
        ...plan,
        stats: [...plan.stats, { op: 'count', field: undefined }],
      };
      const sample = toSample(await read(counted, { quantiles: 'exact', every }));
      if (sample.sampled >= sampling.minSampled) return sample;
    }
  }
  try {
    return await read(plan, { quantiles: 'exact' });
  } catch (error) {
    const hasQuantiles = plan.stats.some(({ op }) => op === 'quantile');
    if (!hasQuantiles || exceededLimit(error) !== 'size') throw error;
    return read(plan, { quantiles: 'sampled' });
  }
}

/** Those that a read cannot exclude; 0 on a cluster, which tells none. */
async function estimateRows(
  { connection, database }: ReaderParts,
  { filter }: StatsPlan,
  context: QueryContext,
): Promise<number> {
  const statement = compileEstimate(tableName(database, 'logs'), filter);
  const tables = await connection.read<EstimateRow>(statement, { ...context, scanned: undefined });
  return tables.reduce((sum, [, , , rows]) => sum + Number(rows), 0);
}

/** @param result whose last statistic is the number of logs */
function toSample({ groups }: StatsResult) {
  const points = groups.flatMap((group) => group.points);
  const sampled = points.reduce((sum, { values }) => sum + values.at(-1)!, 0);
  const without = groups.map((group) => ({
    ...group,
    points: group.points.map(({ bucket, values }) => ({ bucket, values: values.slice(0, -1) })),
  }));
  return { groups: without, isExact: false, sampled };
}

interface StatsForm {
  readonly quantiles: 'exact' | 'sampled';
  readonly every?: number;
}

async function readOnce(
  { connection, database }: ReaderParts,
  plan: StatsPlan,
  {
    time,
    context,
    ...form
  }: StatsForm & { readonly time: ReadTime; readonly context: QueryContext },
): Promise<StatsResult> {
  const table = tableName(database, 'logs');
  const isGrouped = plan.by.length > 0;
  const isExact = form.quantiles === 'exact';
  const step = () => ({ ...form, limits: time.left() });

  /** @returns undefined if there are too many groups for one statement */
  async function readRanked(): Promise<StatsResult | undefined> {
    try {
      const statement = compileRankedStats(table, plan, { ...step(), maxGroups: maxRankedGroups });
      const rows = await connection.read<RankedStatsRow>(statement, context);
      return { groups: toRankedGroups(rows), isExact };
    } catch (error) {
      if (exceededLimit(error) === undefined) throw error;
      return undefined;
    }
  }

  const ranked = isGrouped ? await readRanked() : undefined;
  if (ranked !== undefined) return ranked;
  const top = isGrouped
    ? await connection.read<TopGroupRow>(compileTopGroups(table, plan, step()), context)
    : [];
  if (isGrouped && top.length === 0) return { groups: [], isExact: true };
  const statement = compileStats(table, plan, { ...step(), top });
  const rows = await connection.read<StatsRow>(statement, context);
  return { groups: toStatsGroups(isGrouped ? top : undefined, rows), isExact };
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
    isExact: true,
  };
  const { groups } = await readStats({ ...parts, limits: time.left() }, stats, context);
  return toGroupedHistogram(plan, groups);
}
