/** Histogram of the matching logs by severity; drag or click narrows the range. */
import { useMemo } from 'react';
import { usePreferences } from '../app/preferences.ts';
import { StackedBars } from '../charts/stacked-bars.tsx';
import { Button } from '../parts/controls/button.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import styles from './histogram-panel.module.css';
import type { Range } from './query.ts';
import { toAbsolute } from './range/range.ts';
import { refusalOf, type useHistogram } from './reads.ts';
import { barColor, groupByFamily } from './severity-family.ts';
import { useKept } from './use-kept.ts';
import type { Run } from './use-run.ts';

export interface HistogramPanelProps {
  readonly run: Run;
  readonly answer: ReturnType<typeof useHistogram>;
  readonly onRange: (range: Range) => void;
}

export function HistogramPanel({ run, answer, onRange }: HistogramPanelProps) {
  const { timeZone } = usePreferences();
  const { data, error, isPlaceholderData, refetch } = answer;
  const [isErrorsOnly, setIsErrorsOnly] = useKept('weir.histogram.errors', false);
  const families = useMemo(() => groupByFamily(data?.buckets ?? []), [data]);
  const series = useMemo(
    () =>
      families
        .filter(({ family }) => !isErrorsOnly || family === 'error' || family === 'fatal')
        .map(({ family, values }) => ({ name: family, color: barColor(family), values })),
    [families, isErrorsOnly],
  );
  return (
    <section className={styles.panel} aria-label="Logs over time">
      <header className={styles.header}>
        <h2 className={styles.total} role="status">
          {data === undefined ? '…' : countOfLogs(data.total)}
        </h2>
        <ul className={styles.legend} aria-label="By severity">
          {families.map(({ family, total }) => (
            <li key={family}>
              <span className={styles.dot} style={{ background: barColor(family) }} />
              {family} <span className={styles.count}>{formatCount(total)}</span>
            </li>
          ))}
        </ul>
        <div className={styles.switch}>
          <Button
            tone="bare"
            isPressed={isErrorsOnly}
            label="Draw errors only"
            onPress={() => setIsErrorsOnly(!isErrorsOnly)}
          >
            Errors only
          </Button>
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
          isUtc={timeZone === 'utc'}
          height={chartHeight}
          onBrush={(fromMs, untilMs) => onRange(toAbsolute(fromMs, untilMs))}
        />
      </div>
    </section>
  );
}

const chartHeight = 80;

function countOfLogs(total: number): string {
  return total === 1 ? '1 log' : `${formatCount(total)} logs`;
}
