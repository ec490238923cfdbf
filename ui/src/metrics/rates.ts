/** Rate of a counter per second; a decrease is a reset to zero. Pure. */
import type { TimedValues } from '../charts/aligned-series.ts';

/** One value per pair of neighbours, at the later time. */
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
 * Whether a metric is a counter: by its type, else by its name
 * (https://prometheus.io/docs/practices/naming/).
 */
export function isCounter(name: string, type: string | undefined): boolean {
  if (type === 'counter') return true;
  if (type === 'gauge') return false;
  return /_(?:total|count|sum|bucket)$/.test(name);
}
