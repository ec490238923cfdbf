/** Rows of statistics as lines of a chart. Pure. */
import type { StatsRow } from '../../api/models.ts';
import { parseSpan, type TimeBounds } from '../query.ts';

export interface StatsLine {
  readonly name: string;
  /** Of the field; undefined for all logs, and for all others. */
  readonly value: string | undefined;
  readonly times: readonly number[];
  /** NaN where no log has a number. */
  readonly values: readonly number[];
}

export const steps = ['1s', '10s', '1m', '5m', '15m', '1h', '6h', '1d', '1w'] as const;
const fittingSteps = 120;
/** With ten groups, fewer points than the API refuses. */
const mostSteps = 4_000;

/** The chosen step, or the shortest one of which the range has few. */
export function stepFor(chosen: string, { sinceTime, untilTime }: TimeBounds): string {
  const rangeMs = Date.parse(untilTime) - Date.parse(sinceTime);
  const fits = (step: string, most: number) => rangeMs / (parseSpan(step) ?? 1) <= most;
  if (chosen !== '' && fits(chosen, mostSteps)) return chosen;
  return steps.find((step) => fits(step, fittingSteps)) ?? '1w';
}

/** Name of the group. @param nameOf of a value, for display */
export function groupName(
  { by, other }: Pick<StatsRow, 'by' | 'other'>,
  nameOf: (value: string) => string | undefined,
): string {
  if (other) return 'all others';
  const [value] = Object.values(by);
  if (value === undefined) return 'all logs';
  return value === '' ? 'none' : (nameOf(value) ?? value);
}

/** A line for each group, in the order of the rows. */
export function toLines(
  rows: readonly StatsRow[],
  nameOf: (value: string) => string | undefined,
): StatsLine[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify([row.other, row.by]));
  return [...groups.values()].map((own) => ({
    name: groupName(own[0]!, nameOf),
    value: own[0]!.other ? undefined : Object.values(own[0]!.by)[0],
    times: own.map(({ time }) => Date.parse(time)),
    values: own.map((row) => valueOf(row) ?? Number.NaN),
  }));
}

/** Of the only statistic. */
export function valueOf({ values }: StatsRow): number | null {
  return Object.values(values)[0] ?? null;
}
