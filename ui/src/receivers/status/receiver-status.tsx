/** What a receiver accepted and refused over time, and why. */
import { type ReactNode, useState } from 'react';
import type { Receiver, Statistics } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import { toAddress, toReasonWords } from '../../manage/reason-words.ts';
import { useStatistics } from '../../manage/statistics.ts';
import { Ago } from '../../parts/text/ago.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Answer } from '../../parts/feedback/answer.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { Card } from '../../parts/layout/page.tsx';
import { countOf, formatBytes, formatCount, formatTime } from '../../parts/text/time-text.ts';
import styles from './receiver-status.module.css';
import { StatusChart } from './status-chart.tsx';

const ranges = [
  { name: '1h', label: '1 hour', rangeMs: 3_600_000, buckets: 60 },
  { name: '24h', label: '24 hours', rangeMs: 86_400_000, buckets: 96 },
  { name: '7d', label: '7 days', rangeMs: 604_800_000, buckets: 84 },
] as const;

const refreshMs = 5_000;

export function ReceiverStatus({ receiver }: { receiver: Receiver }) {
  const [range, setRange] = useState<(typeof ranges)[number]>(ranges[0]);
  const [isPaused, setIsPaused] = useState(false);
  const statistics = useStatistics(receiver.receiverId, {
    rangeMs: range.rangeMs,
    buckets: range.buckets,
    everyMs: isPaused ? false : refreshMs,
  });
  return (
    <>
      <div className={styles.tools}>
        <div className={styles.ranges} role="group" aria-label="Time range">
          {ranges.map((one) => (
            <Button key={one.name} isPressed={one === range} onPress={() => setRange(one)}>
              {one.label}
            </Button>
          ))}
        </div>
        <Button isPressed={isPaused} onPress={() => setIsPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} /> {isPaused ? 'Go on' : 'Pause'}
        </Button>
      </div>
      <Answer of={statistics} what="Loading statistics">
        {(data) => (
          <>
            <Totals statistics={data} />
            <Card title="Over time">
              <StatusChart statistics={data} />
            </Card>
            <Reasons reasons={data.reasons} />
            <Samples samples={data.samples} />
          </>
        )}
      </Answer>
    </>
  );
}

function Totals({ statistics }: { statistics: Statistics }) {
  const { accepted, rejected, refused, requests, bytes, lastSeenAt, lastAcceptedAt, lag } =
    statistics;
  return (
    <dl className={styles.totals}>
      <Total name="Events accepted" value={formatCount(accepted)} />
      <Total name="Records rejected" value={formatCount(rejected)} isBad={rejected > 0} />
      <Total
        name="Requests refused"
        value={`${formatCount(refused)} of ${formatCount(requests)}`}
        isBad={refused > 0}
      />
      <Total name="Bytes accepted" value={formatBytes(bytes)} />
      <Total name="Last seen" value={<Ago at={lastSeenAt} />} />
      <Total name="Last accepted" value={<Ago at={lastAcceptedAt} />} />
      <Total
        name="Queue lag"
        value={`${lag.queueSeconds.toFixed(1)} s`}
        isBad={lag.queueSeconds > 10}
      />
    </dl>
  );
}

interface TotalProps {
  readonly name: string;
  readonly value: ReactNode;
  readonly isBad?: boolean;
}

function Total({ name, value, isBad = false }: TotalProps) {
  return (
    <div className={styles.total}>
      <dt>{name}</dt>
      <dd className={isBad ? styles.bad : undefined}>{value}</dd>
    </div>
  );
}

const reasonColumns: readonly Column<Statistics['reasons'][number]>[] = [
  { header: 'Reason', cell: ({ kind, reason }) => toReasonWords(kind, reason) },
  {
    header: 'Refused',
    isTight: true,
    cell: ({ kind, count }) => countOf(count, kind),
  },
  { header: 'What to change', cell: ({ advice }) => advice },
];

function Reasons({ reasons }: Pick<Statistics, 'reasons'>) {
  return (
    <Card title="Why data was refused">
      {reasons.length === 0 ? (
        <p className="quiet">No data was refused in this range.</p>
      ) : (
        <DataTable
          caption="Reasons"
          columns={reasonColumns}
          rows={reasons}
          keyOf={({ kind, reason }) => `${kind} ${reason}`}
        />
      )}
    </Card>
  );
}

function Samples({ samples }: Pick<Statistics, 'samples'>) {
  const { timeZone } = usePreferences();
  const columns: readonly Column<Statistics['samples'][number]>[] = [
    {
      header: 'Time',
      isTight: true,
      cell: ({ at }) => <time dateTime={at}>{formatTime(at, timeZone).slice(0, 19)}</time>,
    },
    { header: 'Status', cell: ({ status }) => status },
    { header: 'Answer to the sender', cell: ({ detail }) => <LogText text={detail} /> },
    { header: 'From', cell: ({ peerAddress }) => <LogText text={toAddress(peerAddress)} /> },
    { header: 'Content type', cell: ({ contentType }) => <LogText text={contentType ?? ''} /> },
    {
      header: 'Body',
      isTight: true,
      cell: ({ bodyBytes }) => (bodyBytes === null ? '' : formatBytes(bodyBytes)),
    },
    {
      header: 'Token',
      cell: ({ tokenId }) => (tokenId === null ? 'unknown' : <code>{tokenId}</code>),
    },
  ];
  return (
    <Card title="Last refusals">
      {samples.length === 0 ? (
        <p className="quiet">There are none.</p>
      ) : (
        <DataTable
          caption="Last refusals"
          columns={columns}
          rows={samples}
          keyOf={({ at }) => at}
        />
      )}
    </Card>
  );
}
