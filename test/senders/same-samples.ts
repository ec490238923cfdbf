/**
 * Compares the samples of two systems bit by bit. Without native histograms, which Prometheus 2
 * does not return this way.
 */
import type { Labels, SeriesSamples } from '../harness/prompb.ts';

/** Differences listed; the rest is counted. */
const maxTold = 10;

/** Samples missing, different or additional in `there`. Duplicates count as differences. */
export function differences(
  here: readonly SeriesSamples[],
  there: readonly SeriesSamples[],
): string[] {
  const found: string[] = [];
  const rest = new Map(there.map((series) => [toName(series.labels), toPoints(series)]));
  for (const series of here) {
    const name = toName(series.labels);
    const points = rest.get(name) ?? [];
    rest.delete(name);
    found.push(...compare(name, toPoints(series), points));
  }
  for (const [name, points] of rest) found.push(...compare(name, [], points));
  const more = found.length - maxTold;
  return more > 0 ? [...found.slice(0, maxTold), `and ${more} more`] : found;
}

function compare(name: string, here: readonly string[], there: readonly string[]): string[] {
  const [mine, theirs] = [new Set(here), new Set(there)];
  const twice = there.length === theirs.size ? [] : [`${name} has samples twice`];
  return [
    ...twice,
    ...here.filter((point) => !theirs.has(point)).map((point) => `${name} lacks ${point}`),
    ...there.filter((point) => !mine.has(point)).map((point) => `${name} adds ${point}`),
  ];
}

function toName(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toPoints({ samples }: SeriesSamples): string[] {
  return samples.map(({ timeMs, bits }) => `${bits.toString(16)} at ${timeMs}`);
}
