/** The series of a metric: chart and table. */
import { useMemo, useState } from 'react';
import { usePreferences } from '../app/preferences.ts';
import { useThemeColors, useThemeKey } from '../charts/theme-colors.ts';
import { TimeLines } from '../charts/time-lines.tsx';
import type { Line } from '../charts/time-readout.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { Card } from '../parts/layout/page.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import type { Bounds, MetricQuery } from './metric-query.ts';
import { maxListedSeries, useMetricType, useSamples, useSeries } from './metric-reads.ts';
import { isCounter, toRates } from './rates.ts';
import { type Labels, type SampledSeries, seriesKey, varyingLabels } from './remote-read.ts';
import { SeriesTable } from './series-table.tsx';

export interface MetricSeriesProps {
  readonly query: MetricQuery;
  readonly bounds: Bounds;
  readonly onChange: (change: Partial<MetricQuery>) => void;
}

/** One per distinguishable colour. */
const maxDrawn = 10;

export function MetricSeries({ query, bounds, onChange }: MetricSeriesProps) {
  const { metric, labels } = query;
  const { timeZone } = usePreferences();
  const type = useMetricType(metric).data;
  const series = useSeries(metric, labels, bounds);
  const listed = series.data?.slice(0, maxListedSeries) ?? [];
  const { drawn, toggle } = useDrawn(listed);
  const samples = useSamples(drawn, bounds);
  const isRate = query.mode === 'rate' || (query.mode === 'auto' && isCounter(metric, type?.type));
  const { lines, colors, byKey } = useLines(samples.data ?? [], drawn, isRate);

  if (series.isError) {
    return <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />;
  }
  if (series.data === undefined) return <Loading what="Looking for series" />;
  if (series.data.length === 0) {
    return <Notice tone="quiet">{metric} has no matching series in this time range.</Notice>;
  }
  const unit = type?.unit === undefined || type.unit === '' ? '' : ` · ${type.unit}`;
  const count = series.data.length > maxListedSeries ? `Over ${maxListedSeries}` : listed.length;
  return (
    <>
      <Card title={`${metric}${isRate ? ' per second' : ''}${unit}`}>
        {type?.help && <p>{type.help}</p>}
        {samples.isError && (
          <ProblemNotice error={samples.error} onRetry={() => void samples.refetch()} />
        )}
        <TimeLines
          lines={lines}
          {...bounds}
          isUtc={timeZone === 'utc'}
          label={summaryOf(metric, lines)}
          onBrush={(fromMs, untilMs) => onChange({ range: { kind: 'absolute', fromMs, untilMs } })}
        />
      </Card>
      <Card
        title={`${count} series${drawn.length < listed.length ? `, ${drawn.length} drawn` : ''}`}
      >
        <SeriesTable
          series={listed}
          colors={colors}
          samples={byKey}
          chosen={labels}
          onToggle={toggle}
          onFilter={(label) => onChange({ labels: [...labels, label] })}
        />
      </Card>
    </>
  );
}

/** Default: the first few series. */
function useDrawn(listed: readonly Labels[]) {
  const [chosen, setChosen] = useState<readonly string[] | undefined>();
  const keys = chosen ?? listed.slice(0, maxDrawn).map(seriesKey);
  const drawn = listed.filter((labels) => keys.includes(seriesKey(labels)));
  const toggle = (key: string) => {
    const without = keys.filter((one) => one !== key);
    // At the limit the oldest selection is replaced.
    setChosen(without.length < keys.length ? without : [...keys, key].slice(-maxDrawn));
  };
  return { drawn, toggle };
}

function useLines(data: readonly SampledSeries[], drawn: readonly Labels[], isRate: boolean) {
  const resolve = useThemeColors();
  const theme = useThemeKey();
  return useMemo(() => {
    const byKey = new Map<string, SampledSeries>(
      data.map((series) => [
        seriesKey(series.labels),
        isRate ? { labels: series.labels, ...toRates(series) } : series,
      ]),
    );
    const colors = new Map(
      drawn.map((labels, index) => [seriesKey(labels), resolve(`--line-${(index % 10) + 1}`)]),
    );
    const varying = varyingLabels(drawn);
    const names = new Map(
      drawn.map((labels) => [seriesKey(labels), wordsOf(labels, varying) || 'value']),
    );
    const lines = [...byKey].flatMap(([key, { times, values }]): Line[] => {
      const color = colors.get(key);
      return color === undefined ? [] : [{ name: names.get(key) ?? key, color, times, values }];
    });
    return { lines, colors, byKey };
    // `drawn` is a new array on each render; its keys identify the content.
  }, [data, drawn.map(seriesKey).join(), isRate, resolve, theme]);
}

function wordsOf(labels: Labels, varying: ReadonlySet<string>): string {
  const told = Object.entries(labels).filter(([name]) => varying.has(name));
  return told.map(([name, value]) => `${name}=${value}`).join(' ');
}

function summaryOf(metric: string, lines: readonly Line[]): string {
  const samples = lines.reduce((count, { times }) => count + times.length, 0);
  return `${metric} over time: ${lines.length} series, ${formatCount(samples)} samples`;
}
