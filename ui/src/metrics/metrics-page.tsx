/** The metrics page: queries on top, one chart of all of them, and a browser of metrics. */
import { useMemo, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { serviceNowMs } from '../api/service-clock.ts';
import { useShortcuts } from '../parts/controls/shortcuts.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Failure } from '../parts/feedback/answer.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { Sheet } from '../parts/layout/sheet.tsx';
import { MetricBrowser } from './browse/metric-browser.tsx';
import { RelatedMetrics } from './browse/related-metrics.tsx';
import { parseBuilt, printBuilt } from './build/built-query.ts';
import { usePromqlOffers } from './build/promql-offers.ts';
import { toFault } from './build/query-fault.ts';
import { QueryRow } from './build/query-row.tsx';
import { gridOf, toPlotted } from './chart/plotted-series.ts';
import { PlotCard } from './chart/plot-card.tsx';
import { unitOfAll } from './chart/query-unit.ts';
import { formatMetricQuery, maxQueries, widen } from './metric-query.ts';
import { useFamilies, useRangeQueries } from './metric-reads.ts';
import { NoMetrics } from './no-metrics.tsx';
import { RangeSelect } from './range-select.tsx';
import styles from './metrics-page.module.css';
import { type MetricState, useMetricQuery } from './use-metric-query.ts';

export function MetricsPage() {
  const state = useMetricQuery();
  const { query, bounds, change, refresh } = state;
  const families = useFamilies(bounds);
  const showMore = () => change({ range: widen(bounds, serviceNowMs()) });
  useShortcuts([
    { key: 'r', description: 'Refresh', group: 'Metrics', run: refresh },
    { key: 'z', description: 'Double the time range', group: 'Metrics', run: showMore },
  ]);
  const hrefOf = (text: string) => {
    const next = { ...query, queries: [text], display: 'lines' as const, related: [] };
    return `/explore/metrics?${formatMetricQuery(next)}`;
  };
  const all = families.data ?? [];
  const isEmpty = families.data?.length === 0;
  const isNew = query.queries.length === 0;
  return (
    <Page
      title="Metrics"
      actions={
        <RangeSelect
          range={query.range}
          onRange={(range) => change({ range })}
          onWiden={showMore}
          onRefresh={refresh}
        />
      }
    >
      <Failure of={families} />
      {isEmpty && <NoMetrics />}
      {families.isPending && isNew && <Loading what="Looking for metrics" />}
      {!isNew && <Queries state={state} families={all} hrefOf={hrefOf} />}
      {isNew &&
        query.related.map((related) => (
          <RelatedMetrics
            key={related.field}
            related={related}
            families={all}
            bounds={bounds}
            hrefOf={hrefOf}
          />
        ))}
      {isNew && families.data !== undefined && !isEmpty && (
        <Card title={query.related.length > 0 ? 'All metrics' : 'Choose a metric'}>
          <MetricBrowser families={all} hrefOf={hrefOf} />
          <div>
            <Button onPress={() => change({ queries: [''] })}>Write PromQL</Button>
          </div>
        </Card>
      )}
    </Page>
  );
}

interface QueriesProps {
  readonly state: MetricState;
  readonly families: Parameters<typeof MetricBrowser>[0]['families'];
  readonly hrefOf: (query: string) => string;
}

function Queries({ state, families, hrefOf }: QueriesProps) {
  const { query, bounds, asOfMs, change, refresh } = state;
  const { queries } = query;
  const [isBrowsing, setIsBrowsing] = useState(false);
  const offers = usePromqlOffers(bounds);
  const grid = useMemo(() => gridOf(bounds), [bounds]);
  const answers = useRangeQueries(queries, grid, asOfMs);
  const series = useMemo(
    () => answers.flatMap(({ data }, at) => (data ? toPlotted(data.series, data.grid, at) : [])),
    // Of a fixed length: React compares only as many dependencies as there were before.
    Array.from({ length: maxQueries }, (_, at) => answers[at]?.data),
  );
  const unit = unitOfAll(queries, families);
  const setQuery = (at: number, text: string, display = query.display) =>
    change({ queries: queries.with(at, text), display });
  return (
    <>
      <Card>
        {queries.map((text, at) => (
          <QueryRow
            // Queries have no identity but their place.
            key={at}
            at={at}
            text={text}
            refusal={isRefusal(answers[at]?.error) ? toFault(text, answers[at]?.error) : undefined}
            families={families}
            offers={offers}
            bounds={bounds}
            onRun={(next, display = query.display) =>
              next === text && display === query.display ? refresh() : setQuery(at, next, display)
            }
            {...(queries.length > 1 && {
              onRemove: () => change({ queries: queries.toSpliced(at, 1) }),
            })}
          />
        ))}
        <div className={styles.actions}>
          <Button
            isDisabled={queries.length >= maxQueries}
            onPress={() => change({ queries: [...queries, ''] })}
          >
            <Icon name="plus" /> Add query
          </Button>
          <Button onPress={() => setIsBrowsing(true)}>
            <Icon name="search" /> Browse metrics
          </Button>
        </div>
      </Card>
      <AnswerNotices answers={answers} isEmpty={series.length === 0} />
      {series.length > 0 && (
        <PlotCard
          query={query}
          series={series}
          grid={grid}
          bounds={bounds}
          unit={unit}
          families={families}
          onChange={change}
          canFilter={(at) => parseBuilt(queries[at] ?? '') !== undefined}
          onFilter={(at, { name, value }) => {
            const built = parseBuilt(queries[at] ?? '');
            if (built === undefined) return;
            const filters = [...built.filters, { name, op: '=' as const, value }];
            setQuery(at, printBuilt({ ...built, filters }));
          }}
        />
      )}
      <Sheet title="Metrics" width="wide" isOpen={isBrowsing} onClose={() => setIsBrowsing(false)}>
        <MetricBrowser families={families} hrefOf={hrefOf} onOpen={() => setIsBrowsing(false)} />
      </Sheet>
    </>
  );
}

interface AnswerNoticesProps {
  readonly answers: ReturnType<typeof useRangeQueries>;
  readonly isEmpty: boolean;
}

/** What there is to say of the answers besides their series. */
function AnswerNotices({ answers, isEmpty }: AnswerNoticesProps) {
  const failed = answers.find(({ error }) => error !== null && !isRefusal(error));
  const notes = [...new Set(answers.flatMap(({ data }) => data?.notes ?? []))];
  return (
    <>
      {failed !== undefined && <Failure of={failed} />}
      {notes.map((note) => (
        <Notice key={note} tone="warning">
          {note}
        </Notice>
      ))}
      {answers.some(({ isLoading }) => isLoading) && <Loading what="Evaluating" />}
      {isEmpty && answers.some(({ data }) => data !== undefined) && (
        <Notice tone="quiet">No series matches in this time range.</Notice>
      )}
    </>
  );
}

/** The query is wrong; any other error may pass. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 400 || error.status === 422);
}
