/** A random part of the logs of a plan: its size is bounded, however many logs match. */
import type { HistogramPlan, HistogramResult } from '../../model/plan.ts';
import type { LogSample } from '../../model/sample-plan.ts';
import type { QueryContext } from '../connection.ts';
import type { Parameters } from '../sql/statement.ts';
import { canCount } from '../counts/count-matches.ts';
import { whereSql } from '../sql/where.ts';

/**
 * Rows that follow one another in a part are sampled together, since a granule is read as a whole;
 * few of them, so that a sample has many places in time.
 */
const rowsPerBlock = 256;
/** Blocks are chosen by a hash modulo this. */
const chances = 65_536;
/** Blocks vary in how many of their rows match. */
const slack = 1.5;

export interface SampleCaller {
  readonly context: QueryContext;
  readonly countLogs: (plan: HistogramPlan, context: QueryContext) => Promise<HistogramResult>;
}

interface SampleSteps<Result> {
  readonly maxRows: number;
  /** Is asked for one bucket. */
  readonly countLogs: (plan: HistogramPlan) => Promise<HistogramResult>;
  readonly read: (samples: readonly LogSample[]) => Promise<Result>;
  /** Logs that were read of each sample. */
  readonly sampledOf: (result: Result) => readonly number[];
}

/**
 * To count the logs of a filter that counts by time cannot answer takes as long as to read them.
 * Those are read without a count first, which is enough where they are few.
 */
export async function readSamples<Result>(
  plans: readonly HistogramPlan[],
  { maxRows, countLogs, read, sampledOf }: SampleSteps<Result>,
): Promise<{ readonly samples: readonly LogSample[]; readonly result: Result }> {
  const planSample = async (plan: HistogramPlan, isCounted: boolean): Promise<LogSample> => {
    if (!isCounted) return { plan, total: 0, maxRows };
    const { counts } = await countLogs({ ...plan, buckets: 1, groupBy: undefined });
    return { plan, total: counts[0]!, maxRows };
  };
  const first = await Promise.all(plans.map((plan) => planSample(plan, canCount(plan.filter))));
  const result = await read(first);
  const sampled = sampledOf(result);
  const isCut = first.map(({ total }, i) => total === 0 && sampled[i]! > maxRows);
  if (!isCut.includes(true)) return { samples: first, result };
  const samples = await Promise.all(
    first.map(async (sample, i) => (isCut[i] ? planSample(sample.plan, true) : sample)),
  );
  return { samples, result: await read(samples) };
}

/** The rows of a plan, or a random part of them. */
export function sampleSql(
  table: string,
  { plan, total, maxRows }: LogSample,
  columns: string,
  params: Parameters,
): string {
  const conditions = [whereSql(plan.filter, params)];
  if (total > maxRows) {
    const chance = Math.ceil((maxRows / total) * chances);
    const hash = `cityHash64(_part, intDiv(_part_offset, ${rowsPerBlock}))`;
    conditions.unshift(`${hash} % ${chances} < ${chance}`);
  }
  return `SELECT ${columns}
FROM ${table}
WHERE ${conditions.join('\n  AND ')}
LIMIT ${Math.ceil(maxRows * slack)}`;
}

/** Logs may have arrived since they were counted: a complete sample is right. */
export function totalOf({ total, maxRows: most }: LogSample, sampled: number): number {
  return total <= most ? sampled : Math.max(total, sampled);
}
