/** The metrics page: one metric, its series over time, filtered by labels. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useShortcuts } from '../app/shortcuts.ts';
import { Card, Page } from '../parts/layout/page.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { MetricControls } from './metric-controls.tsx';
import {
  type Bounds,
  boundsOf,
  formatMetricQuery,
  type MetricQuery,
  parseMetricQuery,
  widen,
} from './metric-query.ts';
import { useMetricNames } from './metric-reads.ts';
import { MetricList } from './metric-list.tsx';
import { MetricSeries } from './metric-series.tsx';
import { NoMetrics } from './no-metrics.tsx';
import { serviceNowMs } from '../api/service-clock.ts';

export function MetricsPage() {
  const search = useSearch();
  const query = parseMetricQuery(search);
  const [, navigate] = useLocation();
  // Relative ranges end at the time of the request, not of the render.
  const [nowMs, setNowMs] = useState(serviceNowMs);
  const bounds = toBounds(query, nowMs);
  const names = useMetricNames(bounds);
  const refresh = () => setNowMs(serviceNowMs());
  const hrefOf = (part: Partial<MetricQuery>) =>
    `/explore/metrics?${formatMetricQuery({ ...query, ...part })}`;
  const change = (part: Partial<MetricQuery>) => {
    refresh();
    navigate(hrefOf(part));
  };
  useShortcuts([
    { key: 'r', description: 'Refresh', group: 'Metrics', run: refresh },
    { key: 'z', description: 'Double the time range', group: 'Metrics', run: () => showMore() },
  ]);
  const showMore = () => change({ range: widen(bounds, serviceNowMs()) });

  return (
    <Page title="Metrics">
      <Card>
        <MetricControls
          query={query}
          names={names.data ?? []}
          onChange={change}
          onRefresh={refresh}
          onWiden={showMore}
        />
      </Card>
      {names.isError && <ProblemNotice error={names.error} onRetry={() => void names.refetch()} />}
      {names.data?.length === 0 && <NoMetrics />}
      {query.metric === '' && names.data !== undefined && names.data.length > 0 && (
        <MetricList names={names.data} hrefOf={(metric) => hrefOf({ metric, labels: [] })} />
      )}
      {query.metric !== '' && (
        <MetricSeries key={query.metric} query={query} bounds={bounds} onChange={change} />
      )}
    </Page>
  );
}

function toBounds({ range }: MetricQuery, nowMs: number): Bounds {
  const { fromMs, untilMs } = boundsOf(range, nowMs);
  return { fromMs, untilMs };
}
