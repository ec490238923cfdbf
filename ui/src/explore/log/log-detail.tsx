/** All details of a log: message, times, fields and labels with actions. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Log } from '../../api/models.ts';
import { useScope } from '../../app/context.ts';
import { toMetricsOfLog } from '../../links/metrics-of-log.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { LongText } from '../../parts/text/long-text.tsx';
import { formatTime, type Zone } from '../../parts/text/time-text.ts';
import { useStreamNames } from '../reads.ts';
import { FieldList } from './field-list.tsx';
import type { LogActions } from './log-actions.ts';
import styles from './log-detail.module.css';
import { fieldRows, type FieldRow, withNanos } from './log-fields.ts';
import { MessageView } from './message-view.tsx';
import { useCopy } from '../../parts/controls/use-copy.ts';

export interface LogDetailProps {
  readonly log: Log;
  readonly zone: Zone;
  readonly actions: LogActions;
}

export function LogDetail({ log, zone, actions }: LogDetailProps) {
  const [isJson, setIsJson] = useState(false);
  const copy = useCopy();
  const canReadMetrics = useScope('metrics:read');
  const metrics = canReadMetrics ? toMetricsOfLog(log) : undefined;
  const streamNames = useStreamNames();
  const { fields, labels } = fieldRows(log);
  const named = fields.map((row) => {
    const called = row.name === 'streamId' ? streamNames.get(row.value) : undefined;
    return called === undefined ? row : { ...row, called };
  });
  return (
    <div className={styles.detail}>
      <div className={styles.bar}>
        {actions.showContext && (
          <Button onPress={() => actions.showContext?.(log)}>
            <Icon name="menu" /> In context
          </Button>
        )}
        <Button isPressed={isJson} onPress={() => setIsJson(!isJson)}>
          {'{ }'} JSON
        </Button>
        <Button onPress={() => void copy(JSON.stringify(log, null, 2), 'the log as JSON')}>
          <Icon name="copy" /> Copy
        </Button>
        <Button onPress={() => void copy(actions.linkTo(log), 'a link to this log')}>
          <Icon name="share" /> Link
        </Button>
        {metrics !== undefined && <Link href={metrics}>Metrics around this time</Link>}
      </div>
      {isJson ? (
        <pre className={styles.json} tabIndex={0} aria-label="Log as JSON">
          <LongText text={JSON.stringify(log, null, 2)} maxLength={20_000} />
        </pre>
      ) : (
        <>
          <MessageView log={log} actions={actions} />
          <div className={styles.lists}>
            <FieldList title="Fields" rows={[...timeRows(log, zone), ...named]} actions={actions} />
            {labels.length > 0 && (
              <FieldList title={`Labels (${labels.length})`} rows={labels} actions={actions} />
            )}
          </div>
        </>
      )}
    </div>
  );
}

/** Timestamp with nanoseconds; other times if they differ. */
function timeRows(log: Log, zone: Zone): FieldRow[] {
  const shown = formatTime(log.timestamp, zone);
  const row = (name: string, title: string, value: string): FieldRow => ({ name, title, value });
  const zoneName = zone === 'utc' ? ' UTC' : '';
  const observed = formatTime(log.observedTimestamp, zone);
  return [
    row('timestamp', 'Time', withNanos(shown, log.timestampNanos) + zoneName),
    ...(observed === shown ? [] : [row('observedTimestamp', 'Observed', observed + zoneName)]),
    row('receivedAt', 'Received', formatTime(log.receivedAt, zone) + zoneName),
    row('logId', 'Log id', log.logId),
  ];
}
