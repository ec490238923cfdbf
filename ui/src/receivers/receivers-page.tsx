/** List of receivers with their status. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Receiver, Stream } from '../api/models.ts';
import { useReceivers, useStreams } from '../manage/control.ts';
import { kindWords } from '../manage/kind-words.ts';
import { useStatistics } from '../manage/statistics.ts';
import { Ago } from '../parts/text/ago.tsx';
import { Badge } from '../parts/feedback/badge.tsx';
import { Button } from '../parts/controls/button.tsx';
import type { Column } from '../parts/layout/data-table.tsx';
import { NamedTable } from '../parts/layout/named-table.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Answer, Failure } from '../parts/feedback/answer.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import { CreateReceiver } from './create-receiver.tsx';
import styles from './receivers-page.module.css';

export function ReceiversPage() {
  const [isCreating, setIsCreating] = useState(false);
  const streams = useStreams();
  const create = (
    <Button
      tone="primary"
      isDisabled={streams.data === undefined}
      onPress={() => setIsCreating(true)}
    >
      <Icon name="plus" /> New receiver
    </Button>
  );
  return (
    <Page title="Receivers" actions={create}>
      <Card>
        <Failure of={streams} />
        <Receivers streams={streams.data ?? []} create={create} />
      </Card>
      {isCreating && streams.data !== undefined && (
        <CreateReceiver streams={streams.data} onClose={() => setIsCreating(false)} />
      )}
    </Page>
  );
}

interface ReceiversProps {
  readonly streams: readonly Stream[];
  readonly create: ReactNode;
}

function Receivers({ streams, create }: ReceiversProps) {
  const receivers = useReceivers();
  return (
    <Answer of={receivers} what="Loading receivers">
      {(all) =>
        all.length === 0 ? (
          <EmptyState title="No receivers yet" action={create}>
            A receiver is an address for one kind of data, with its own tokens and limits. Create
            one per sender or team, so that each has its own statistics and limits.
          </EmptyState>
        ) : (
          <NamedTable
            caption="Receivers"
            columns={columnsOf(streams)}
            rows={all}
            keyOf={({ receiverId }) => receiverId}
          />
        )
      }
    </Answer>
  );
}

function columnsOf(streams: readonly Stream[]): Column<Receiver>[] {
  const names = new Map(streams.map(({ streamId, name }) => [streamId, name]));
  return [
    {
      header: 'Name',
      cell: ({ receiverId, name }) => (
        <Link href={`/receivers/${receiverId}`}>
          <LogText text={name} />
        </Link>
      ),
    },
    { header: 'Takes', isTight: true, cell: ({ kind }) => kindWords[kind] },
    { header: 'Stream', cell: ({ streamId }) => <LogText text={names.get(streamId) ?? ''} /> },
    { header: 'State', cell: ({ active }) => <State isActive={active} /> },
    {
      header: 'Accepted, 1 h',
      isAtEnd: true,
      cell: ({ receiverId }) => <Count receiverId={receiverId} of="accepted" />,
    },
    {
      header: 'Refused, 1 h',
      isAtEnd: true,
      cell: ({ receiverId }) => <Count receiverId={receiverId} of="refused" />,
    },
    {
      header: 'Last seen',
      isTight: true,
      cell: ({ receiverId }) => <LastSeen receiverId={receiverId} />,
    },
  ];
}

function State({ isActive }: { isActive: boolean }) {
  return isActive ? <Badge tone="success">active</Badge> : <Badge tone="quiet">off</Badge>;
}

/** Shared by the cells of a row. */
const lastHour = { rangeMs: 3_600_000, buckets: 1, everyMs: 15_000 } as const;

function Count({ receiverId, of }: { receiverId: string; of: 'accepted' | 'refused' }) {
  const { data } = useStatistics(receiverId, lastHour);
  if (data === undefined) return <span className="quiet">–</span>;
  const count = of === 'accepted' ? data.accepted : data.refused + data.rejected;
  if (count === 0) return <span className="quiet">0</span>;
  return (
    <span
      className={of === 'refused' ? styles.refused : undefined}
      title={of === 'refused' ? `${data.refused} requests, ${data.rejected} records` : undefined}
    >
      {formatCount(count)}
    </span>
  );
}

function LastSeen({ receiverId }: { receiverId: string }) {
  const { data } = useStatistics(receiverId, lastHour);
  return data === undefined ? <span className="quiet">–</span> : <Ago at={data.lastSeenAt} />;
}
