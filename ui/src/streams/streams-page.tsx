/** List of streams with retention, receivers and volume. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Receiver, Stream } from '../api/models.ts';
import { useReceivers, useStreams } from '../manage/control.ts';
import { toStreamLogs } from '../manage/explore-links.ts';
import { Ago } from '../parts/text/ago.tsx';
import { Button } from '../parts/controls/button.tsx';
import { type Column, menuColumn } from '../parts/layout/data-table.tsx';
import { NamedTable } from '../parts/layout/named-table.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Answer, Failure } from '../parts/feedback/answer.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { DeleteStream, DeleteStreamData } from './delete-stream.tsx';
import { StreamSheet } from './stream-sheet.tsx';
import { LogCount, NewestLog, ReceivedBytes } from './stream-volume.tsx';
import styles from './streams-page.module.css';

interface Step {
  readonly name: 'edit' | 'delete-data' | 'delete';
  readonly stream: Stream;
}

export function StreamsPage() {
  const [isCreating, setIsCreating] = useState(false);
  const create = (
    <Button tone="primary" onPress={() => setIsCreating(true)}>
      <Icon name="plus" /> New stream
    </Button>
  );
  return (
    <Page title="Streams" actions={create}>
      <Card>
        <Streams create={create} />
      </Card>
      {isCreating && <StreamSheet stream={undefined} onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function Streams({ create }: { create: ReactNode }) {
  const streams = useStreams();
  const receivers = useReceivers();
  const [step, setStep] = useState<Step>();
  const feeding = ({ streamId }: Stream) =>
    receivers.data?.filter((receiver) => receiver.streamId === streamId);
  const close = () => setStep(undefined);
  return (
    <>
      <Failure of={receivers} />
      <Answer of={streams} what="Loading streams">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No streams yet" action={create}>
              A stream stores the logs and metrics of its receivers, for its retention.
            </EmptyState>
          ) : (
            <NamedTable
              caption="Streams"
              columns={columnsOf(feeding, setStep)}
              rows={rows}
              keyOf={({ streamId }) => streamId}
            />
          )
        }
      </Answer>
      {step?.name === 'edit' && <StreamSheet stream={step.stream} onClose={close} />}
      {step?.name === 'delete-data' && <DeleteStreamData stream={step.stream} onClose={close} />}
      {step?.name === 'delete' && (
        <DeleteStream stream={step.stream} feeding={feeding(step.stream) ?? []} onClose={close} />
      )}
    </>
  );
}

function columnsOf(
  /** Undefined = unknown. */
  feeding: (stream: Stream) => readonly Receiver[] | undefined,
  onStep: (step: Step) => void,
): Column<Stream>[] {
  return [
    { header: 'Name', cell: ({ name }) => <LogText text={name} /> },
    { header: 'Retention', cell: ({ retentionDays }) => toDays(retentionDays) },
    { header: 'Receivers', cell: (stream) => <Feeding receivers={feeding(stream)} /> },
    { header: 'Logs', cell: ({ streamId }) => <LogCount streamId={streamId} />, isAtEnd: true },
    {
      header: 'Received in 24 h',
      cell: (stream) => <ReceivedBytes receivers={feeding(stream)} />,
      isAtEnd: true,
    },
    { header: 'Newest log', cell: ({ streamId }) => <NewestLog streamId={streamId} /> },
    { header: 'Data deleted', cell: ({ dataDeletedUntil }) => <Ago at={dataDeletedUntil} /> },
    {
      header: 'Read',
      cell: ({ streamId }) => <Link href={toStreamLogs(streamId)}>Show logs</Link>,
    },
    menuColumn((stream) => {
      const item = (label: string, name: Step['name'], isDangerous = false) => ({
        label,
        isDangerous,
        onPick: () => onStep({ name, stream }),
      });
      return [
        item('Edit', 'edit'),
        item('Delete data', 'delete-data', true),
        item('Delete', 'delete', true),
      ];
    }),
  ];
}

function Feeding({ receivers }: { receivers: readonly Receiver[] | undefined }) {
  if (receivers === undefined) return '–';
  if (receivers.length === 0) return <span className="quiet">no receivers</span>;
  return (
    <ul className={styles.feeding}>
      {receivers.map(({ receiverId, name }) => (
        <li key={receiverId}>
          <Link href={`/receivers/${receiverId}`}>
            <LogText text={name} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

function toDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}
