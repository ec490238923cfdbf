/** Issues a token for a receiver and shows its secret once. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { LogText, Named } from '../parts/text/log-text.tsx';
import { SecretSheet } from '../parts/layout/secret-sheet.tsx';
import { useChange } from './control.ts';
import { otherThan } from './field-faults.ts';
import { TokenFields, useTokenDraft } from './token-fields.tsx';

export interface IssueTokenSheetProps {
  readonly receiver: { readonly receiverId: string; readonly name: string };
  readonly onClose: () => void;
  readonly onSecret: (tokenId: string, name: string, secret: string) => void;
}

export function IssueTokenSheet({ receiver, onClose, onSecret }: IssueTokenSheetProps) {
  const { api } = useApp();
  const draft = useTokenDraft(receiver.name);
  const { name } = draft;
  const [secret, setSecret] = useState<string>();
  const { receiverId } = receiver;
  const change = useChange(
    (expiresAt: string | null) =>
      dataOf(
        api.POST('/api/v1/admin/tokens', {
          body: { type: 'ingest', name, receiverId, scopes: ['ingest:write'], expiresAt },
        }),
      ),
    (issued) => {
      setSecret(issued.token);
      onSecret(issued.tokenId, issued.name, issued.token);
    },
  );
  const { faults } = change;
  const submit = () => {
    const expiresAt = draft.readExpiry();
    if (expiresAt !== undefined) change.start(expiresAt);
  };
  if (secret !== undefined) {
    return (
      <SecretSheet
        title={<Named before="Token" name={name} />}
        secret={secret}
        what="the token"
        onClose={onClose}
      >
        <p>The configurations under “Send data” contain it until you leave this page.</p>
      </SecretSheet>
    );
  }
  return (
    <FormSheet
      title="Issue a token"
      action="Issue token"
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name', 'expiresAt'])}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        The token can send to <LogText text={receiver.name} /> and nothing else. Issue one per
        sender, so that each can be revoked separately.
      </p>
      <TokenFields draft={draft} faults={faults} nameHint="The sender." />
    </FormSheet>
  );
}
