/**
 * Fields and values for completion, from the newest logs that match: a window of a known number of
 * rows, and older ones only where it has too few logs and time is left.
 */
import type { GroupField } from '../model/log-fields.ts';
import type {
  FieldsPlan,
  FieldsResult,
  FieldValuesPlan,
  FieldValuesResult,
  LogFilter,
} from '../model/plan.ts';
import type { QueryContext } from './connection.ts';
import { exceededLimit } from './failures.ts';
import type { ReaderParts } from './read-time.ts';
import type { RowSpreads } from './pages/row-spread.ts';
import {
  compileFieldCounts,
  compileFieldValues,
  compileLabelCounts,
  type FieldCountsRow,
  type FieldValueRow,
  type LabelCountRow,
  maxFieldValues,
  maxLabelKeys,
  sampleRows,
  toFieldCounts,
} from './sql/fields.ts';
import type { ReadLimits } from './sql/statement.ts';
import { tableName } from './sql/tables.ts';
import { listWindows, type TimeWindow } from './sql/time-windows.ts';

export interface SampleParts extends ReaderParts {
  readonly spreads: RowSpreads;
}

/** A sample of as many logs is telling. */
const enoughLogs = 1_000;
/** For all windows but the first. */
const maxSecondsMore = 0.4;

export async function readFields(
  parts: SampleParts,
  { filter, limit }: FieldsPlan,
  context: QueryContext,
): Promise<FieldsResult> {
  const { connection, database } = parts;
  const table = tableName(database, 'logs');
  const counts = new Map<GroupField, number>();
  let areAllListed = true;
  const { sampled, isExact } = await readNewest(parts, filter, sampleRows(undefined), (step) =>
    Promise.all([
      connection.read<FieldCountsRow>(compileFieldCounts(table, filter, step), context),
      connection.read<LabelCountRow>(compileLabelCounts(table, filter, step), context),
    ]).then(([[fields], labels]) => {
      areAllListed &&= labels.length < maxLabelKeys;
      for (const { field, count } of toFieldCounts(fields!)) add(counts, field, count);
      for (const [key, count] of labels) add(counts, `label.${key}`, Number(count));
      const logs = Number(fields![0]);
      return { logs, isEnough: true };
    }),
  );
  const found = [...counts]
    .map(([field, count]) => ({ field, count }))
    .filter(({ count }) => count);
  const listed = found.sort((a, b) => b.count - a.count).slice(0, limit);
  return { fields: listed, sampled, isExact: isExact && areAllListed };
}

export async function readFieldValues(
  parts: SampleParts,
  plan: FieldValuesPlan,
  context: QueryContext,
): Promise<FieldValuesResult> {
  const { connection, database } = parts;
  const table = tableName(database, 'logs');
  const counts = new Map<string, number>();
  let areAllListed = true;
  const rowsWanted = sampleRows(plan.field);
  const { sampled, isExact } = await readNewest(parts, plan.filter, rowsWanted, async (step) => {
    const statement = compileFieldValues(table, plan, step);
    const rows = await connection.read<FieldValueRow>(statement, context);
    areAllListed &&= rows.length < maxFieldValues;
    for (const [value, count, , isWanted] of rows) if (isWanted) add(counts, value, Number(count));
    return { logs: Number(rows[0]?.[2] ?? 0), isEnough: counts.size > 0 };
  });
  const values = [...counts].map(([value, count]) => ({ value, count }));
  const listed = values.sort((a, b) => b.count - a.count).slice(0, plan.limit);
  return { values: listed, sampled, isExact: isExact && areAllListed };
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** @param read reads one window. @returns logs that matched, and whether these are all */
async function readNewest(
  { spreads, limits }: SampleParts,
  filter: LogFilter,
  rows: number,
  read: (step: {
    readonly window: TimeWindow;
    readonly limits: ReadLimits;
  }) => Promise<{ readonly logs: number; readonly isEnough: boolean }>,
): Promise<{ readonly sampled: number; readonly isExact: boolean }> {
  const streamIds = filter.streams.map(({ streamId }) => streamId);
  const spread = await spreads.of(filter.accountId, streamIds);
  const plan = { filter, direction: 'older', position: undefined } as const;
  const range = { ...plan, limit: 1, untilWatermarkNanos: undefined };
  const startedAt = performance.now();
  let sampled = 0;
  let isFirst = true;
  let isDone = false;
  for (const window of listWindows(range, spread, BigInt(Date.now()) * 1_000_000n, rows)) {
    if (isDone) return { sampled, isExact: false };
    const maxSeconds = maxSecondsMore - (performance.now() - startedAt) / 1000;
    if (!isFirst && maxSeconds < 0.01) return { sampled, isExact: false };
    try {
      const step = { window, limits: isFirst ? limits : { ...limits, maxSeconds } };
      const { logs, isEnough } = await read(step);
      sampled += logs;
      isDone = isEnough && sampled >= enoughLogs;
    } catch (error) {
      if (isFirst || exceededLimit(error) === undefined) throw error;
      return { sampled, isExact: false };
    }
    isFirst = false;
  }
  return { sampled, isExact: true };
}
