/** Pending and firing alerts. */
import { Link } from 'wouter';
import { formatValue, parseValue } from '../charts/value-format.ts';
import { Badge } from '../parts/feedback/badge.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { type Column, DataTable } from '../parts/layout/data-table.tsx';
import { Card } from '../parts/layout/page.tsx';
import { Ago } from '../parts/text/ago.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { useAlerts } from './alert-reads.ts';
import { named } from './alert-spans.ts';
import styles from './alerts-page.module.css';

type Alert = NonNullable<ReturnType<typeof useAlerts>['data']>[number];

export function ActiveAlerts() {
  const alerts = useAlerts();
  return (
    <Answer of={alerts} what="Loading alerts">
      {(all) =>
        all.length === 0 ? (
          <EmptyState title="No active alerts">
            Rules raise alerts on metrics and logs. Earlier alerts are in the history.
          </EmptyState>
        ) : (
          <Card>
            <DataTable
              caption="Active alerts"
              columns={columns}
              rows={all.toSorted(byUrgency)}
              keyOf={({ labels }) => JSON.stringify(labels)}
            />
          </Card>
        )
      }
    </Answer>
  );
}

/** Firing alerts first, then by time, newest first. */
function byUrgency(a: Alert, b: Alert): number {
  return (
    Number(b.state === 'firing') - Number(a.state === 'firing') ||
    Date.parse(b.activeAt) - Date.parse(a.activeAt)
  );
}

const columns: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    cell: ({ labels }) => {
      const { name, labels: others } = named(labels);
      return (
        <div className={styles.title}>
          <Link href={`/alerts?${new URLSearchParams({ tab: 'history', alert: name }).toString()}`}>
            <LogText text={name} />
          </Link>
          <div className={styles.labels}>
            <LogText text={others.map(([label, value]) => `${label}="${value}"`).join(' ')} />
          </div>
        </div>
      );
    },
  },
  {
    header: 'State',
    cell: ({ state }) => <Badge tone={state === 'firing' ? 'danger' : 'warning'}>{state}</Badge>,
    isTight: true,
  },
  { header: 'Since', cell: ({ activeAt }) => <Ago at={activeAt} />, isTight: true },
  {
    header: 'Value',
    cell: ({ value }) => formatValue(parseValue(value)),
    isAtEnd: true,
    isTight: true,
  },
  {
    header: 'Summary',
    cell: ({ annotations: { summary, description } }) => (
      <LogText text={summary ?? description ?? ''} />
    ),
  },
];
