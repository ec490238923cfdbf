/** Events and requests of a receiver over time. */
import type { Statistics } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import { type BarSeries, StackedBars } from '../../charts/stacked-bars.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import styles from './status-chart.module.css';

type Buckets = Statistics['buckets'];

/** Two charts: the number of events in a refused request is unknown. */
export function StatusChart({ statistics }: { statistics: Statistics }) {
  const { buckets } = statistics;
  return (
    <div className={styles.charts}>
      <Chart
        title="Events"
        statistics={statistics}
        series={[
          seriesOf('accepted', 'var(--accent)', buckets, ({ accepted }) => accepted),
          seriesOf('rejected', 'var(--danger)', buckets, ({ rejected }) => rejected),
        ]}
      />
      <Chart
        title="Requests"
        statistics={statistics}
        series={[
          seriesOf('taken', 'var(--accent)', buckets, (of) => of.requests - of.refused),
          seriesOf('refused', 'var(--danger)', buckets, ({ refused }) => refused),
        ]}
      />
    </div>
  );
}

interface ChartProps {
  readonly title: string;
  readonly statistics: Statistics;
  readonly series: readonly BarSeries[];
}

function Chart({ title, statistics: { startTime, endTime, buckets }, series }: ChartProps) {
  const { timeZone } = usePreferences();
  return (
    <div className={styles.chart}>
      <div className={styles.head}>
        <h3>{title}</h3>
        {series.map(({ name, color, values }) => (
          <span key={name} className={styles.key}>
            <span className={styles.dot} style={{ background: color }} aria-hidden="true" />
            {formatCount(values.reduce((sum, value) => sum + value, 0))} {name}
          </span>
        ))}
      </div>
      <StackedBars
        label={`${title} over time`}
        startMs={Date.parse(startTime)}
        endMs={Date.parse(endTime)}
        buckets={buckets.length}
        series={series}
        zone={timeZone}
      />
    </div>
  );
}

function seriesOf(
  name: string,
  color: string,
  buckets: Buckets,
  valueOf: (bucket: Buckets[number]) => number,
): BarSeries {
  return { name, color, values: buckets.map(valueOf) };
}
