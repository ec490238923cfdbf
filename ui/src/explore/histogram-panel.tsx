/** Histogram of the matching logs by any field; drag or click narrows the range. */
import { useContext, useMemo } from 'react';
import { usePreferences } from '../app/preferences.ts';
import { StackedBars } from '../charts/stacked-bars.tsx';
import { Button } from '../parts/controls/button.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { countOf, formatCount } from '../parts/text/time-text.ts';
import { cutText } from '../parts/text/visible-text.ts';
import { ServiceColors } from './service-color.ts';
import { GroupSelect } from './facets/group-select.tsx';
import { HeightHandle } from './height-handle.tsx';
import { groupSeries } from './histogram-groups.ts';
import styles from './histogram-panel.module.css';
import { fieldTitle } from './log/log-fields.ts';
import type { ExploreQuery, Range } from './query.ts';
import { toAbsolute } from './range/range.ts';
import { refusalOf, type useHistogram } from './reads.ts';
import { useKept } from './use-kept.ts';
import type { Run } from './use-run.ts';

export interface HistogramPanelProps {
  readonly run: Run;
  readonly query: ExploreQuery;
  readonly answer: ReturnType<typeof useHistogram>;
  readonly streamNames: ReadonlyMap<string, string>;
  readonly onRange: (range: Range) => void;
  readonly onGroup: (groupBy: string) => void;
}

const errors: readonly string[] = ['error', 'fatal'];
const maxNameLength = 40;

export function HistogramPanel(props: HistogramPanelProps) {
  const { run, query, answer, streamNames, onRange, onGroup } = props;
  const { groupBy } = query;
  const { timeZone } = usePreferences();
  const colorOf = useContext(ServiceColors);
  const { data, error, isFetching, isPlaceholderData, refetch } = answer;
  const isOld = data === undefined || isPlaceholderData;
  const [isWanted, setIsWanted] = useKept('weir.histogram.errors', false);
  const [height, setHeight] = useKept('weir.histogram.height', 112);
  const isErrorsOnly = isWanted && groupBy === 'severity';
  const all = useMemo(
    () => groupSeries(data?.buckets ?? [], groupBy, (value) => streamNames.get(value), colorOf),
    [data, groupBy, streamNames, colorOf],
  );
  const series = isErrorsOnly ? all.filter(({ name }) => errors.includes(name)) : all;
  return (
    <section className={styles.panel} aria-label="Logs over time">
      <header className={styles.header}>
        <h2 className={styles.total} role="status">
          {isOld ? '…' : countOf(data.total, 'log')}
        </h2>
        <ul className={styles.legend} aria-label={`By ${fieldTitle(groupBy).toLowerCase()}`}>
          {all.map(({ name, color, total }) => (
            <li key={name}>
              <span className={styles.dot} style={{ background: color }} />
              <LogText text={cutText(name, maxNameLength)} />{' '}
              <span className={styles.count}>{isOld ? '…' : formatCount(total)}</span>
            </li>
          ))}
        </ul>
        <div className={styles.tools}>
          {groupBy === 'severity' && (
            <Button
              isPressed={isErrorsOnly}
              label="Draw errors only"
              onPress={() => setIsWanted(!isWanted)}
            >
              Errors only
            </Button>
          )}
          <GroupSelect
            label="Group the histogram by"
            value={groupBy}
            onChange={onGroup}
            query={query}
            run={run}
          />
        </div>
      </header>
      {error && !data && !refusalOf(error) && (
        <ProblemNotice error={error} onRetry={() => void refetch()} />
      )}
      <div className={styles.chart} data-is-old={isPlaceholderData}>
        <StackedBars
          label={isErrorsOnly ? 'Errors over time' : 'Logs over time'}
          startMs={Date.parse(data?.startTime ?? run.bounds.sinceTime)}
          endMs={Date.parse(data?.endTime ?? run.bounds.untilTime)}
          buckets={data?.buckets.length ?? run.buckets}
          series={series}
          zone={timeZone}
          height={height}
          pending={isOld ? (isFetching ? 'Loading the counts' : 'Not counted') : undefined}
          onBrush={(fromMs, untilMs) => onRange(toAbsolute(fromMs, untilMs))}
        />
      </div>
      <HeightHandle
        label="Height of the histogram"
        height={height}
        min={48}
        max={400}
        onHeight={setHeight}
      />
    </section>
  );
}
