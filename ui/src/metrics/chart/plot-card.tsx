/** The answers of all queries in one chart, as lines or as a heat map, with a legend. */
import { useMemo, useState } from 'react';
import { usePreferences } from '../../app/preferences.ts';
import { HeatMap } from '../../charts/heat-map.tsx';
import { useThemeColors } from '../../charts/theme-colors.ts';
import { TimeLines } from '../../charts/time-lines.tsx';
import { valueFormat } from '../../charts/value-format.ts';
import { Notice } from '../../parts/feedback/notice.tsx';
import { Card } from '../../parts/layout/page.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import type { MetricFamily } from '../browse/metric-families.ts';
import type { Bounds, MetricQuery } from '../metric-query.ts';
import { maxSeries } from '../metric-reads.ts';
import { hasBuckets, toHeatGrid } from './heat-grid.ts';
import { type LegendRow, LegendTable } from './legend-table.tsx';
import { type Grid, namesOf, type PlottedSeries, type Ranking } from './plotted-series.ts';
import { PointPanel } from './point-panel.tsx';
import { PlotTools } from './plot-tools.tsx';
import { bucketUnitOf } from './query-unit.ts';
import { rankSeries, useDrawn } from './use-drawn.ts';

export interface PlotCardProps {
  readonly query: MetricQuery;
  readonly series: readonly PlottedSeries[];
  readonly grid: Grid;
  readonly bounds: Bounds;
  /** Unit of all queries; empty = none. */
  readonly unit: string;
  readonly families: readonly MetricFamily[];
  readonly onChange: (part: Partial<MetricQuery>) => void;
  readonly canFilter: (query: number) => boolean;
  readonly onFilter: (query: number, label: { name: string; value: string }) => void;
}

export function PlotCard(props: PlotCardProps) {
  const { query, series, grid, bounds, unit, families, onChange } = props;
  const { timeZone } = usePreferences();
  const [ranking, setRanking] = useState<Ranking>('max');
  const [pickedMs, setPickedMs] = useState<number>();
  const format = useMemo(() => valueFormat(unit), [unit]);
  const ranked = useMemo(() => rankSeries(series, ranking), [series, ranking]);
  const { isDrawn, toggle, only } = useDrawn(ranked.map((one) => one.series.key));
  const plotted = usePlotted({ ranked, queries: query.queries, isDrawn });
  const heat = useMemo(
    () => (query.display === 'heat' ? toHeatGrid(firstWithBuckets(series)) : undefined),
    [query.display, series],
  );
  const bucketUnit = bucketUnitOf(
    query.queries[firstWithBuckets(series)[0]?.query ?? 0] ?? '',
    families,
  );
  const formatBucket = useMemo(() => valueFormat(bucketUnit), [bucketUnit]);
  const lines = plotted.points.map(({ line }) => line);
  const zoom = (fromMs: number, untilMs: number) =>
    onChange({ range: { kind: 'absolute', fromMs, untilMs } });
  return (
    <Card>
      <PlotTools
        title={heat ? `${heat.edges.length - 1} buckets` : titleOf(series, lines.length)}
        query={query}
        hasBuckets={hasBuckets(series)}
        onChange={onChange}
      />
      {heat ? (
        <HeatMap
          grid={heat}
          zone={timeZone}
          label={`Heat map over time: ${heat.edges.length - 1} buckets`}
          format={formatBucket}
          onBrush={zoom}
          onPick={setPickedMs}
        />
      ) : (
        <TimeLines
          lines={lines}
          {...bounds}
          zone={timeZone}
          isZeroBased={query.isZeroBased}
          unit={unit}
          label={`Values over time: ${lines.length} of ${series.length} series`}
          onBrush={zoom}
          onPick={setPickedMs}
        />
      )}
      {query.display === 'heat' && heat === undefined && (
        <Notice tone="quiet">
          A heat map needs buckets: the series of <code>…_bucket</code> by <code>le</code>, or a
          native histogram.
        </Notice>
      )}
      {pickedMs !== undefined && (
        <PointPanel
          atMs={pickedMs}
          stepMs={grid.stepMs}
          points={plotted.points}
          format={format}
          onClose={() => setPickedMs(undefined)}
        />
      )}
      <LegendTable
        rows={plotted.rows}
        hasLetters={query.queries.length > 1}
        ranking={ranking}
        format={format}
        onRank={setRanking}
        onToggle={toggle}
        onOnly={only}
        canFilter={props.canFilter}
        onFilter={props.onFilter}
      />
    </Card>
  );
}

/** Each query has its own limit. */
function titleOf(series: readonly PlottedSeries[], drawn: number): string {
  const found = series.length;
  const byQuery = Map.groupBy(series, ({ query }) => query);
  const isCut = [...byQuery.values()].some((own) => own.length >= maxSeries);
  const count = `${isCut ? 'The first ' : ''}${formatCount(found)}`;
  return `${count} series${drawn < found ? `, ${drawn} drawn` : ''}`;
}

function firstWithBuckets(series: readonly PlottedSeries[]): readonly PlottedSeries[] {
  const first = series.find((one) => hasBuckets([one]));
  return series.filter(({ query }) => query === first?.query);
}

interface Plotting {
  readonly ranked: ReturnType<typeof rankSeries>;
  readonly queries: readonly string[];
  readonly isDrawn: (key: string) => boolean;
}

const lineColors = 10;

function usePlotted({ ranked, queries, isDrawn }: Plotting) {
  const resolve = useThemeColors();
  const drawn = ranked.filter(({ series }) => isDrawn(series.key)).map(({ series }) => series.key);
  return useMemo(() => {
    const names = namesOf(
      ranked.map(({ series }) => series),
      queries,
    );
    const colorOf = (key: string) => {
      const place = drawn.indexOf(key);
      return place < 0 ? undefined : resolve(`--line-${(place % lineColors) + 1}`);
    };
    const rows = ranked.map(({ series, summary, labels }): LegendRow => {
      return { series, summary, labels, color: colorOf(series.key) };
    });
    const points = rows.flatMap(({ series, color }) => {
      if (color === undefined) return [];
      const name = names.get(series.key)!;
      const { times, values } = series;
      return [{ series, line: { name, color, times, values } }];
    });
    return { rows, points };
    // `drawn` is a new array on each render; its keys identify the content.
  }, [ranked, queries, drawn.join('\n'), resolve]);
}
