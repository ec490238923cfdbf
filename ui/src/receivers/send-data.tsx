/** How to send to a receiver: token, configurations, arrival of events. */
import { useState } from 'react';
import type { Receiver } from '../api/models.ts';
import { IssueTokenSheet } from '../manage/issue-token-sheet.tsx';
import { Button } from '../parts/controls/button.tsx';
import { CodeBlock } from '../parts/text/code-block.tsx';
import { SelectField } from '../parts/controls/fields.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Card } from '../parts/layout/page.tsx';
import { SecretOnce } from '../parts/layout/secret-once.tsx';
import { Tabs } from '../parts/controls/tabs.tsx';
import { ArrivalNotice } from './arrival-notice.tsx';
import type { KnownSecret } from './known-secrets.ts';
import styles from './send-data.module.css';
import { type Snippet, tokenPlaceholder } from './snippets/snippet.ts';
import { toSnippets } from './snippets/snippets-of.ts';

export interface SendDataProps {
  readonly receiver: Receiver;
  /** Issued since the page was opened, newest first. */
  readonly secrets: readonly KnownSecret[];
  readonly onSecret: (tokenId: string, name: string, secret: string) => void;
}

export function SendData({ receiver, secrets, onSecret }: SendDataProps) {
  const [pickedId, setPickedId] = useState('');
  const picked = secrets.find(({ tokenId }) => tokenId === pickedId) ?? secrets[0];
  return (
    <>
      <ArrivalNotice receiver={receiver} />
      <TokenCard
        receiver={receiver}
        secrets={secrets}
        picked={picked}
        onPick={setPickedId}
        onSecret={(tokenId, name, secret) => {
          setPickedId(tokenId);
          onSecret(tokenId, name, secret);
        }}
      />
      <Configurations receiver={receiver} token={picked?.secret ?? tokenPlaceholder} />
    </>
  );
}

interface TokenCardProps extends SendDataProps {
  readonly picked: KnownSecret | undefined;
  readonly onPick: (tokenId: string) => void;
}

function TokenCard({ receiver, secrets, picked, onPick, onSecret }: TokenCardProps) {
  const [isIssuing, setIsIssuing] = useState(false);
  return (
    <Card title="Token">
      {picked === undefined ? (
        <p>
          Each request needs a token of this receiver. The configurations below contain{' '}
          <code>{tokenPlaceholder}</code> instead: replace it with your token, or issue one now.
        </p>
      ) : (
        <SecretOnce secret={picked.secret} what="the token" />
      )}
      <div className={styles.token}>
        {secrets.length > 1 && (
          <SelectField
            label="Token in the configurations"
            value={picked?.tokenId ?? ''}
            onChange={onPick}
            options={secrets.map(({ tokenId, name }) => ({
              value: tokenId,
              label: `${name} (${tokenId})`,
            }))}
          />
        )}
        <Button
          tone={picked === undefined ? 'primary' : 'quiet'}
          onPress={() => setIsIssuing(true)}
        >
          <Icon name="plus" /> Issue a token
        </Button>
      </div>
      {isIssuing && (
        <IssueTokenSheet
          receiver={receiver}
          onSecret={(tokenId, name, secret) => {
            // Shown here, next to the configurations.
            setIsIssuing(false);
            onSecret(tokenId, name, secret);
          }}
          onClose={() => setIsIssuing(false)}
        />
      )}
    </Card>
  );
}

function Configurations({ receiver, token }: { receiver: Receiver; token: string }) {
  const snippets = toSnippets(receiver, token);
  const [title, setTitle] = useState(snippets[0]?.title ?? '');
  return (
    <Card title="Configuration">
      <Tabs
        label="Senders"
        isVertical
        shown={title}
        onShow={setTitle}
        tabs={snippets.map((snippet) => ({
          name: snippet.title,
          label: snippet.title,
          content: <Configuration snippet={snippet} receiver={receiver} />,
        }))}
      />
    </Card>
  );
}

function Configuration({ snippet, receiver }: { snippet: Snippet; receiver: Receiver }) {
  const { blocks, note } = snippet;
  const { caFile } = receiver;
  return (
    <>
      {blocks.map(({ caption, text }) => (
        <CodeBlock key={caption} caption={caption} text={text} />
      ))}
      {note !== undefined && <p className={styles.note}>{note}</p>}
      <p className={styles.note}>
        {caFile === undefined ? (
          <>
            If Weir generated its CA, give the sender a copy of <code>tls/ca.pem</code> from its
            data directory.
          </>
        ) : (
          <>
            <code>{caFile}</code> is the CA certificate that Weir generated. On another machine use
            a copy, and change the path.
          </>
        )}
      </p>
    </>
  );
}
