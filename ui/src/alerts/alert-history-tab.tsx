/** When alerts were pending and firing, from the series that evaluations record. */
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { serviceNowMs } from '../api/service-clock.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Failure } from '../parts/feedback/answer.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { Card } from '../parts/layout/page.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { maxHistories, useHistory } from './alert-reads.ts';
import styles from './alerts-page.module.css';
import { RangeSelect, type RangeName, ranges } from './range-select.tsx';
import { StateTimeline } from './state-timeline.tsx';

/** @param alertname empty = all alerts */
export function AlertHistoryTab({ alertname }: { alertname: string }) {
  const [range, setRange] = useState<RangeName>('24h');
  const [nowMs, setNowMs] = useState(serviceNowMs);
  const span = useMemo(
    () => ({ fromMs: nowMs - ranges[range].ms, untilMs: nowMs }),
    [nowMs, range],
  );
  const history = useHistory(alertname, span);
  return (
    <Card>
      <div className={styles.tools}>
        <h2>{alertname === '' ? 'Alerts' : <LogText text={alertname} />} over time</h2>
        {alertname !== '' && <Link href="/alerts?tab=history">All alerts</Link>}
        <RangeSelect label="Time range" value={range} onChange={setRange} />
        <Button label="Refresh" onPress={() => setNowMs(serviceNowMs())}>
          <Icon name="refresh" />
        </Button>
      </div>
      <Failure of={history} />
      {history.isPending && <Loading what="Loading the history" />}
      {history.data?.length === 0 && (
        <EmptyState title="No alerts in this time">
          Each evaluation of a rule records its alerts as the series ALERTS.
        </EmptyState>
      )}
      {history.data !== undefined && history.data.length > 0 && (
        <StateTimeline label="Alerts over time" histories={history.data} {...span} />
      )}
      {history.data?.length === maxHistories && (
        <p className={styles.quiet}>The first {maxHistories} alerts are shown.</p>
      )}
    </Card>
  );
}
