/** How fast a counter grows, in units per second; a fall is a restart from zero. Pure. */
import type { TimedValues } from '../charts/aligned-series.ts';

/** One value for each pair of neighbours, at the time of the later one. */
export function toRates({ times, values }: TimedValues): TimedValues {
  const rates = { times: [] as number[], values: [] as number[] };
  for (let index = 1; index < times.length; index += 1) {
    const before = values[index - 1]!;
    const now = values[index]!;
    const seconds = (times[index]! - times[index - 1]!) / 1000;
    if (seconds <= 0) continue;
    const growth = now >= before ? now - before : now;
    rates.times.push(times[index]!);
    rates.values.push(Number.isNaN(before) ? Number.NaN : growth / seconds);
  }
  return rates;
}

/**
 * Whether a metric is one that only grows: its type where it is known, else its name
 * (https://prometheus.io/docs/practices/naming/).
 */
export function isCounter(name: string, type: string | undefined): boolean {
  if (type === 'counter') return true;
  if (type === 'gauge') return false;
  return /_(?:total|count|sum|bucket)$/.test(name);
}
