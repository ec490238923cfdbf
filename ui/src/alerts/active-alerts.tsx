/** Pending and firing alerts. */
import { Link } from 'wouter';
import { formatValue } from '../charts/format-value.ts';
import { Badge } from '../parts/feedback/badge.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
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
  if (alerts.isError) {
    return <ProblemNotice error={alerts.error} onRetry={() => void alerts.refetch()} />;
  }
  if (alerts.data === undefined) return <Loading what="Loading alerts" />;
  if (alerts.data.length === 0) {
    return (
      <EmptyState title="No active alerts">
        Rules raise alerts on metrics and logs. Earlier alerts are in the history.
      </EmptyState>
    );
  }
  const rows = alerts.data.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || Date.parse(b.activeAt) - Date.parse(a.activeAt),
  );
  return (
    <Card>
      <DataTable
        caption="Active alerts"
        columns={columns}
        rows={rows}
        keyOf={({ labels }) => JSON.stringify(labels)}
      />
    </Card>
  );
}

/** Firing alerts first. */
function rankOf({ state }: Alert): number {
  return state === 'firing' ? 0 : 1;
}

const columns: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    cell: ({ labels }) => {
      const { name, labels: others } = named(labels);
      return (
        <>
          <Link href={`/alerts?${new URLSearchParams({ tab: 'history', alert: name }).toString()}`}>
            <LogText text={name} />
          </Link>
          <div className={styles.labels}>
            <LogText text={others.map(([label, value]) => `${label}="${value}"`).join(' ')} />
          </div>
        </>
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
    cell: ({ value }) => formatValue(Number(value)),
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
