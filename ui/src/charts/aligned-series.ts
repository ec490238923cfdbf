/**
 * Aligns several series on one time axis, in the format of uPlot: a missing sample is skipped, a
 * stale marker or a gap breaks the line. Pure.
 */

export interface TimedValues {
  /** Unix ms, ascending. */
  readonly times: readonly number[];
  /** NaN breaks the line. */
  readonly values: readonly number[];
}

/** `undefined` = no sample, continue the line; `null` = break. */
export type AlignedColumn = (number | null | undefined)[];

/** A gap is longer than this many median intervals, */
const pauseFactor = 4;
/** and at least this long. */
const minPauseMs = 60_000;

/** @returns Unix seconds of all samples, and one column per series */
export function alignSeries(
  all: readonly TimedValues[],
): readonly [seconds: number[], ...columns: AlignedColumn[]] {
  const withBreaks = all.map(breakAtPauses);
  const times = [...new Set(withBreaks.flatMap((series) => series.times))].sort((a, b) => a - b);
  const placeOf = new Map(times.map((time, place) => [time, place]));
  const columns = withBreaks.map((series) => {
    const column: AlignedColumn = Array.from({ length: times.length });
    series.times.forEach((time, index) => {
      const value = series.values[index];
      column[placeOf.get(time)!] = value === undefined || !Number.isFinite(value) ? null : value;
    });
    return column;
  });
  return [times.map((time) => time / 1000), ...columns];
}

/** How far to look back for the last sample of a series. */
const lookBack = 50;

/** The value at a place in a column, or the last one shortly before. */
export function valueAt(column: Readonly<AlignedColumn>, index: number): number | undefined {
  const value = column
    .slice(Math.max(0, index - lookBack), index + 1)
    .findLast((one) => one !== undefined);
  return value ?? undefined;
}

function breakAtPauses({ times, values }: TimedValues): TimedValues {
  const limit = Math.max(minPauseMs, pauseFactor * usualDistance(times));
  const broken = { times: [] as number[], values: [] as number[] };
  times.forEach((time, index) => {
    const before = times[index - 1];
    if (before !== undefined && time - before > limit) {
      broken.times.push(before + 1);
      broken.values.push(Number.NaN);
    }
    broken.times.push(time);
    broken.values.push(values[index] ?? Number.NaN);
  });
  return broken;
}

/** The median is robust against a few gaps. */
function usualDistance(times: readonly number[]): number {
  const distances = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 0;
}
