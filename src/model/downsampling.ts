/**
 * Levels of downsampling of old metrics, written as by VictoriaMetrics: `30d:5m,180d:1h` keeps the
 * last sample of each 5 minutes after 30 days, and of each hour after 180.
 */

export interface DownsamplingLevel {
  /** Days since receipt. */
  readonly afterDays: number;
  /** One sample of a series is kept per interval. */
  readonly intervalMs: number;
}

const levelPattern = /^(\d{1,4})d:(\d{1,4})(m|h)$/;
const unitMs = { m: 60_000, h: 3_600_000 } as const;
const maxIntervalMs = 86_400_000;

/** @returns the levels by rising age, or undefined where the text is not valid */
export function parseDownsampling(text: string): readonly DownsamplingLevel[] | undefined {
  const levels: DownsamplingLevel[] = [];
  for (const part of text.split(',')) {
    const [, days, count, unit] = levelPattern.exec(part) ?? [];
    const afterDays = Number(days);
    const intervalMs = Number(count) * unitMs[unit as keyof typeof unitMs];
    if (!(afterDays >= 1 && intervalMs > 0 && intervalMs <= maxIntervalMs)) return undefined;
    const before = levels.at(-1);
    // The last sample of an hour is also that of its last five minutes, but not of its last seven.
    const isCoarser =
      before === undefined ||
      (afterDays > before.afterDays &&
        intervalMs > before.intervalMs &&
        intervalMs % before.intervalMs === 0);
    if (!isCoarser) return undefined;
    levels.push({ afterDays, intervalMs });
  }
  return levels;
}

/** @returns the levels of a stream; none where it keeps all samples */
export function downsamplingOf(text: string | null): readonly DownsamplingLevel[] {
  return text === null ? [] : (parseDownsampling(text) ?? []);
}

/** @returns the first level that no data reaches before the retention ends; undefined = none */
export function levelBeyondRetention(
  text: string | null,
  retentionDays: number,
): string | undefined {
  const index = downsamplingOf(text).findIndex(({ afterDays }) => afterDays >= retentionDays);
  return text?.split(',')[index];
}
