/** Table of tokens with rename, rotate, revoke, delete. */
import { useState } from 'react';
import type { Token } from '../api/models.ts';
import { usePreferences } from '../app/preferences.ts';
import { Ago } from '../parts/text/ago.tsx';
import { Badge, type BadgeTone } from '../parts/feedback/badge.tsx';
import { type Column, DataTable, menuColumn } from '../parts/layout/data-table.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import type { MenuItem } from '../parts/controls/menu.tsx';
import { formatTime } from '../parts/text/time-text.ts';
import { toVisibleText } from '../parts/text/visible-text.ts';
import { TokenDialog, type TokenStep } from './token-dialog.tsx';
import { sortTokens, toTokenState, type TokenState } from './token-state.ts';
import styles from './token-table.module.css';

export interface TokenTableProps {
  readonly caption: string;
  readonly tokens: readonly Token[];
  /** The token of the session. */
  readonly currentTokenId: string | undefined;
  /** What stops when the token is revoked, such as `senders that use it`. */
  readonly stopping: (token: Token) => string;
  /** Extra columns between name and dates. */
  readonly columns?: readonly Column<Token>[];
  /** Called with each new secret and its token. */
  readonly onSecret?: (tokenId: string, name: string, secret: string) => void;
}

export function TokenTable(props: TokenTableProps) {
  const { caption, tokens, currentTokenId, stopping, columns = [], onSecret } = props;
  const [step, setStep] = useState<TokenStep>();
  const { timeZone } = usePreferences();
  const nowMs = Date.now();
  const all: Column<Token>[] = [
    { header: 'Name', cell: (token) => <Name token={token} isOwn={isOwn(token)} /> },
    ...columns,
    { header: 'State', cell: (token) => <State state={toTokenState(token, nowMs)} /> },
    { header: 'Last used', isTight: true, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
    { header: 'Created', isTight: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      header: 'Expires',
      isTight: true,
      cell: ({ expiresAt }) =>
        expiresAt === null ? 'never' : formatTime(expiresAt, timeZone).slice(0, 10),
    },
    menuColumn(itemsOf),
  ];
  function isOwn({ tokenId }: Token): boolean {
    return tokenId === currentTokenId;
  }
  function itemsOf(token: Token) {
    const isRevoked = token.revokedAt !== null;
    const item = (label: string, name: TokenStep['name'], isDangerous = false): MenuItem => ({
      label,
      isDangerous,
      onPick: () => setStep({ name, token }),
    });
    return [
      item('Rename', 'rename'),
      // The new secret would be lost when the session of the old token ends.
      ...(isRevoked || isOwn(token) ? [] : [item('Rotate secret', 'rotate')]),
      ...(isRevoked ? [] : [item('Revoke', 'revoke', true)]),
      item('Delete', 'delete', true),
    ];
  }
  return (
    <>
      <DataTable
        caption={caption}
        columns={all}
        rows={sortTokens(tokens, nowMs)}
        keyOf={({ tokenId }) => tokenId}
      />
      {step !== undefined && (
        <TokenDialog
          step={step}
          isOwn={isOwn(step.token)}
          stopping={toVisibleText(stopping(step.token))}
          onSecret={onSecret}
          onClose={() => setStep(undefined)}
        />
      )}
    </>
  );
}

function Name({ token: { name, tokenId }, isOwn }: { token: Token; isOwn: boolean }) {
  return (
    <div className={styles.name}>
      <span>
        <LogText text={name} />
        {isOwn && <span className={styles.own}> · this session</span>}
      </span>
      <code className={styles.id}>{tokenId}</code>
    </div>
  );
}

const tones: Readonly<Record<TokenState, BadgeTone>> = {
  active: 'success',
  expired: 'warning',
  revoked: 'danger',
};

function State({ state }: { state: TokenState }) {
  return <Badge tone={tones[state]}>{state}</Badge>;
}
