/** A selected time: the values of the drawn series, and links to their logs around it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { dataOf } from '../../api/client.ts';
import { useApp, useScope } from '../../app/context.ts';
import { usePreferences } from '../../app/preferences.ts';
import type { Line } from '../../charts/time-readout.tsx';
import { toLogsOfSeries } from '../../links/logs-of-series.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { formatTime } from '../../parts/text/time-text.ts';
import styles from './point-panel.module.css';
import type { PlottedSeries } from './plotted-series.ts';

export interface PointPanelProps {
  /** Unix ms. */
  readonly atMs: number;
  readonly stepMs: number;
  readonly points: readonly Point[];
  readonly format: (value: number) => string;
  readonly onClose: () => void;
}

export interface Point {
  readonly series: PlottedSeries;
  readonly line: Line;
}

/** A rate tells of minutes: logs of a shorter time would miss its cause. */
const minLogsMs = 5 * 60_000;

export function PointPanel({ atMs, stepMs, points, format, onClose }: PointPanelProps) {
  const { timeZone } = usePreferences();
  const canRead = useScope('logs:read');
  const span = { fromMs: atMs - Math.max(stepMs, minLogsMs), untilMs: atMs + stepMs };
  const logLabels = useLogLabels(span);
  const rows = points
    .map((point) => ({ ...point, value: valueAt(point.line, atMs) }))
    .filter(({ value }) => !Number.isNaN(value))
    .sort((a, b) => b.value - a.value);
  const time = formatTime(new Date(atMs).toISOString(), timeZone);
  return (
    <section className={styles.panel} aria-label={`Values at ${time}`}>
      <header className={styles.header}>
        <h3>{time}</h3>
        <Button tone="bare" label="Close the values" onPress={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      {rows.length === 0 && <p>No series has a value at this time.</p>}
      <ul className={styles.rows}>
        {rows.map(({ series, line, value }) => (
          <li key={series.key}>
            <span className={styles.swatch} style={{ background: line.color }} />
            <span className={styles.name}>
              <LogText text={line.name} />
            </span>
            <span className={styles.value}>{format(value)}</span>
            {canRead && (
              <Link
                href={toLogsOfSeries({ labels: series.labels, logLabels, ...span })}
                aria-label={`Logs of ${line.name}`}
              >
                Logs
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function valueAt({ times, values }: Line, atMs: number): number {
  return values[times.indexOf(atMs)] ?? Number.NaN;
}

/** Labels of the logs of this time; empty while loading, and without the scope. */
function useLogLabels({ fromMs, untilMs }: { fromMs: number; untilMs: number }) {
  const { api } = useApp();
  const isAllowed = useScope('analytics:read');
  const query = {
    sinceTime: new Date(fromMs).toISOString(),
    untilTime: new Date(untilMs).toISOString(),
  };
  const { data } = useQuery({
    queryKey: ['log labels', query],
    enabled: isAllowed,
    queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
      const { fields } = await dataOf(api.GET('/api/v1/fields', { params: { query }, signal }));
      return new Set(
        fields.flatMap(({ name }) => (name.startsWith('label.') ? [name.slice(6)] : [])),
      );
    },
    staleTime: 60_000,
  });
  return data ?? noLabels;
}

const noLabels: ReadonlySet<string> = new Set();
