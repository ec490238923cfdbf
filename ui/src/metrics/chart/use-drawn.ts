/** Which series are drawn: the greatest, until the legend chooses others. */
import { useState } from 'react';
import {
  type PlottedSeries,
  type Ranking,
  type Summary,
  summaryOf,
  varyingLabels,
} from './plotted-series.ts';

export interface RankedSeries {
  readonly series: PlottedSeries;
  readonly summary: Summary;
  /** Labels that differ among the series of its query. */
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** One per distinguishable colour. */
const usuallyDrawn = 10;
const maxDrawn = 30;

/** The greatest first; series without values last. */
export function rankSeries(series: readonly PlottedSeries[], ranking: Ranking): RankedSeries[] {
  const varying = new Map(
    [...Map.groupBy(series, ({ query }) => query)].map(([query, own]) => [
      query,
      varyingLabels(own.map(({ labels }) => labels)),
    ]),
  );
  const valueOf = ({ summary }: RankedSeries) =>
    Number.isNaN(summary[ranking]) ? -Infinity : summary[ranking];
  return series
    .map((one) => ({
      series: one,
      summary: summaryOf(one),
      labels: Object.entries(one.labels).filter(([name]) => varying.get(one.query)?.has(name)),
    }))
    .sort((a, b) => (valueOf(a) === valueOf(b) ? 0 : valueOf(b) - valueOf(a)));
}

/** @param keys of all series, the greatest first */
export function useDrawn(keys: readonly string[]) {
  const [chosen, setChosen] = useState<readonly string[]>();
  // A choice ends with its series: another query begins with the greatest again.
  const kept = chosen?.filter((key) => keys.includes(key)) ?? [];
  const drawn = kept.length > 0 ? kept : keys.slice(0, usuallyDrawn);
  return {
    isDrawn: (key: string) => drawn.includes(key),
    toggle(key: string) {
      const without = drawn.filter((one) => one !== key);
      // At the limit the oldest choice is replaced.
      setChosen(without.length < drawn.length ? without : [...drawn, key].slice(-maxDrawn));
    },
    only: (key: string) => setChosen([key]),
  };
}
