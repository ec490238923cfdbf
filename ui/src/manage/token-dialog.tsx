/** Actions on a token, each with a confirmation that names the consequence. */
import { type ReactNode, useState } from 'react';
import { dataOf } from '../api/client.ts';
import type { Token } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { ConfirmDialog } from '../parts/layout/confirm-dialog.tsx';
import { TextField } from '../parts/controls/fields.tsx';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { SecretSheet } from '../parts/layout/secret-sheet.tsx';
import { useChange } from './control.ts';
import { EndingDialog } from './ending-dialog.tsx';
import { otherThan } from './field-faults.ts';

export interface TokenStep {
  readonly name: 'rename' | 'rotate' | 'revoke' | 'delete';
  readonly token: Token;
}

export interface TokenDialogProps {
  readonly step: TokenStep;
  /** Whether this is the token of the session. */
  readonly isOwn: boolean;
  readonly stopping: string;
  readonly onSecret: ((tokenId: string, name: string, secret: string) => void) | undefined;
  readonly onClose: () => void;
}

export function TokenDialog(props: TokenDialogProps) {
  switch (props.step.name) {
    case 'rename':
      return <RenameToken {...props} />;
    case 'rotate':
      return <RotateToken {...props} />;
    case 'revoke':
      return <RevokeToken {...props} />;
    case 'delete':
      return <DeleteToken {...props} />;
  }
}

function RenameToken({ step: { token }, onClose }: TokenDialogProps) {
  const { api } = useApp();
  const [name, setName] = useState(token.name);
  const change = useChange(
    () =>
      dataOf(
        api.PATCH('/api/v1/admin/tokens/{tokenId}', {
          params: { path: { tokenId: token.tokenId } },
          body: { name },
        }),
      ),
    onClose,
  );
  const { faults } = change;
  return (
    <FormSheet
      title="Rename token"
      action="Rename"
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name'])}
      onSubmit={() => change.start(undefined)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isFirst
        value={name}
        onChange={setName}
        fault={faults.fields['name']}
      />
    </FormSheet>
  );
}

function RotateToken({ step: { token }, stopping, onSecret, onClose }: TokenDialogProps) {
  const { api } = useApp();
  const [secret, setSecret] = useState<string>();
  const change = useChange(
    () =>
      dataOf(
        api.POST('/api/v1/admin/tokens/{tokenId}/rotate', {
          params: { path: { tokenId: token.tokenId } },
        }),
      ),
    (issued) => {
      setSecret(issued.token);
      onSecret?.(issued.tokenId, issued.name, issued.token);
    },
  );
  if (secret !== undefined) {
    return (
      <SecretSheet
        title={<Named before="New secret of" name={token.name} />}
        secret={secret}
        what="the new secret"
        onClose={onClose}
      >
        <p>The old secret stops working within 5 seconds.</p>
      </SecretSheet>
    );
  }
  return (
    <ConfirmDialog
      title={<Named before="Rotate the secret of" name={token.name} after="?" />}
      action="Rotate"
      isBusy={change.isBusy}
      error={change.error}
      onConfirm={() => change.start(undefined)}
      onClose={onClose}
    >
      <p>
        A new secret replaces the current one. Within 5 seconds {stopping} will be refused until
        they use the new one.
      </p>
    </ConfirmDialog>
  );
}

function RevokeToken(dialog: TokenDialogProps) {
  const { api } = useApp();
  const params = { path: { tokenId: dialog.step.token.tokenId } };
  return (
    <EndToken
      dialog={dialog}
      words={{ action: 'Revoke', done: 'Revoked' }}
      end={() => dataOf(api.POST('/api/v1/admin/tokens/{tokenId}/revoke', { params }))}
    >
      Within 5 seconds {dialog.stopping} will be refused. This is permanent: a revoked token never
      works again.
    </EndToken>
  );
}

function DeleteToken(dialog: TokenDialogProps) {
  const { api } = useApp();
  const { token } = dialog.step;
  const params = { path: { tokenId: token.tokenId } };
  return (
    <EndToken
      dialog={dialog}
      words={{ action: 'Delete', done: 'Deleted' }}
      end={() => dataOf(api.DELETE('/api/v1/admin/tokens/{tokenId}', { params }))}
    >
      {token.revokedAt === null
        ? `The token is revoked and deleted: within 5 seconds ${dialog.stopping} will be refused.`
        : 'The token is already revoked; this removes it from the list.'}
    </EndToken>
  );
}

interface EndTokenProps {
  readonly dialog: TokenDialogProps;
  readonly words: { readonly action: string; readonly done: string };
  readonly end: () => Promise<unknown>;
  /** What stops working. */
  readonly children: ReactNode;
}

function EndToken({ dialog, words, end, children }: EndTokenProps) {
  return (
    <EndingDialog
      name={dialog.step.token.name}
      asked={words.action}
      {...words}
      end={end}
      onClose={dialog.onClose}
    >
      {dialog.isOwn && <OwnToken />}
      <p>{children}</p>
    </EndingDialog>
  );
}

function OwnToken() {
  return (
    <Notice tone="warning">
      You are signed in with this token: you will be signed out and need another one.
    </Notice>
  );
}
