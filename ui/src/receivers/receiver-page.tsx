/** A receiver: configurations, status, tokens, settings. */
import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import type { Receiver } from '../api/models.ts';
import { ApiProblem } from '../api/problem.ts';
import { useReceiver } from '../manage/control.ts';
import { kindWords } from '../manage/kind-words.ts';
import { Badge } from '../parts/feedback/badge.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { Page } from '../parts/layout/page.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
import { Tabs } from '../parts/controls/tabs.tsx';
import { type KnownSecret, withSecret } from './known-secrets.ts';
import styles from './receiver-page.module.css';
import { ReceiverSettings } from './receiver-settings.tsx';
import { ReceiverStatus } from './status/receiver-status.tsx';
import { ReceiverTokens } from './receiver-tokens.tsx';
import { SendData } from './send-data.tsx';

export function ReceiverPage() {
  const { receiverId } = useParams<{ receiverId: string }>();
  const receiver = useReceiver(receiverId);
  if (receiver.data !== undefined) return <Loaded key={receiverId} receiver={receiver.data} />;
  const { error } = receiver;
  return (
    <Page title="Receiver">
      {error === null && <Loading what="Loading the receiver" />}
      {error instanceof ApiProblem && error.status === 404 ? (
        <Notice tone="warning">
          This account has no such receiver. <Link href="/receivers">All receivers</Link>
        </Notice>
      ) : (
        error && <ProblemNotice error={error} onRetry={() => void receiver.refetch()} />
      )}
    </Page>
  );
}

const tabNames = ['send', 'status', 'tokens', 'settings'] as const;
type TabName = (typeof tabNames)[number];

function Loaded({ receiver }: { receiver: Receiver }) {
  const [parameters, setParameters] = useSearchParams();
  const [secrets, setSecrets] = useState<readonly KnownSecret[]>([]);
  const shown = tabNames.find((name) => name === parameters.get('tab')) ?? 'send';
  const keep = (tokenId: string, name: string, secret: string) =>
    setSecrets((known) => withSecret(known, { tokenId, name, secret }));
  return (
    <Page
      title={
        <span className={styles.title}>
          <Link href="/receivers" className={styles.up}>
            Receivers
          </Link>
          <span aria-hidden="true">/</span>
          <LogText text={receiver.name} />
        </span>
      }
      actions={<Facts receiver={receiver} />}
    >
      <Tabs<TabName>
        label="Parts of the receiver"
        shown={shown}
        onShow={(name) => setParameters(name === 'send' ? {} : { tab: name }, { replace: true })}
        tabs={[
          {
            name: 'send',
            label: 'Send data',
            content: <SendData receiver={receiver} secrets={secrets} onSecret={keep} />,
          },
          { name: 'status', label: 'Status', content: <ReceiverStatus receiver={receiver} /> },
          {
            name: 'tokens',
            label: 'Tokens',
            content: <ReceiverTokens receiver={receiver} onSecret={keep} />,
          },
          {
            name: 'settings',
            label: 'Settings',
            content: <ReceiverSettings receiver={receiver} />,
          },
        ]}
      />
    </Page>
  );
}

function Facts({ receiver: { kind, active } }: { receiver: Receiver }) {
  return (
    <span className={styles.facts}>
      <span>{kindWords[kind]}</span>
      {active ? <Badge tone="success">active</Badge> : <Badge tone="quiet">off</Badge>}
    </span>
  );
}
