/** Access tokens, with a link to the tokens of receivers. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Receiver, Token } from '../api/models.ts';
import { useReceivers, useTokens } from '../manage/control.ts';
import { TokenTable } from '../manage/token-table.tsx';
import { toTokenState } from '../manage/token-state.ts';
import { Button } from '../parts/controls/button.tsx';
import type { Column } from '../parts/layout/data-table.tsx';
import { DataTable } from '../parts/layout/data-table.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { useApp } from '../app/context.ts';
import { CreateToken } from './create-token.tsx';

export function TokensPage() {
  const [isCreating, setIsCreating] = useState(false);
  const tokens = useTokens();
  return (
    <Page
      title="Tokens"
      actions={
        <Button tone="primary" onPress={() => setIsCreating(true)}>
          <Icon name="plus" /> New access token
        </Button>
      }
    >
      <Answer of={tokens} what="Loading tokens">
        {(all) => (
          <>
            <AccessTokens tokens={all.filter(({ type }) => type === 'access')} />
            <IngestTokens tokens={all.filter(({ type }) => type === 'ingest')} />
          </>
        )}
      </Answer>
      {isCreating && <CreateToken onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function AccessTokens({ tokens }: { tokens: readonly Token[] }) {
  const { session } = useApp();
  const nameOf = (id: string) =>
    session.accounts.find(({ accountId }) => accountId === id)?.name ?? id;
  const columns: Column<Token>[] = [
    { header: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    {
      header: 'Accounts',
      cell: ({ accountIds, allAccounts }) => (
        <LogText text={allAccounts ? 'all' : accountIds.map(nameOf).join(', ') || 'none'} />
      ),
    },
  ];
  return (
    <Card title="Access tokens">
      <p className="quiet">For people and programs that read data or manage the account.</p>
      {tokens.length === 0 ? (
        <p>This account has no access tokens yet.</p>
      ) : (
        <TokenTable
          caption="Access tokens"
          tokens={tokens}
          columns={columns}
          currentTokenId={session.tokenId}
          stopping={({ name }) => `all users and programs with ${name} to read or manage`}
        />
      )}
    </Card>
  );
}

interface ReceiverTokens {
  readonly receiver: Receiver;
  readonly active: number;
  readonly all: number;
}

const receiverColumns: readonly Column<ReceiverTokens>[] = [
  {
    header: 'Receiver',
    cell: ({ receiver: { receiverId, name } }) => (
      <Link href={`/receivers/${receiverId}?tab=tokens`}>
        <LogText text={name} />
      </Link>
    ),
  },
  { header: 'Active tokens', cell: ({ active }) => active },
  { header: 'Expired or revoked', cell: ({ active, all }) => all - active },
];

function IngestTokens({ tokens }: { tokens: readonly Token[] }) {
  const receivers = useReceivers();
  const nowMs = Date.now();
  const rowOf = (receiver: Receiver): ReceiverTokens => {
    const own = tokens.filter(({ receiverId }) => receiverId === receiver.receiverId);
    const active = own.filter((token) => toTokenState(token, nowMs) === 'active');
    return { receiver, active: active.length, all: own.length };
  };
  return (
    <Card title="Tokens of senders">
      <p className="quiet">Each is bound to one receiver and managed on its page.</p>
      <Answer of={receivers} what="Loading receivers">
        {(all) =>
          all.length === 0 ? (
            <p>No receivers yet.</p>
          ) : (
            <DataTable
              caption="Tokens of senders"
              columns={receiverColumns}
              rows={all.map(rowOf)}
              keyOf={({ receiver }) => receiver.receiverId}
            />
          )
        }
      </Answer>
    </Card>
  );
}
