/** Creates an access token and shows its secret once. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { useChange } from '../manage/control.ts';
import { otherThan } from '../manage/field-faults.ts';
import { TokenFields, useTokenDraft } from '../manage/token-fields.tsx';
import { CheckField, CheckGroup } from '../parts/controls/fields.tsx';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { SecretSheet } from '../parts/layout/secret-sheet.tsx';
import { type AccessScope, accessScopes, scopeWords } from './scope-words.ts';

interface Wanted {
  readonly name: string;
  readonly scopes: AccessScope[];
  readonly accountIds: string[];
  readonly expiresAt: string | null;
}

export function CreateToken({ onClose }: { onClose: () => void }) {
  const { api, session } = useApp();
  const draft = useTokenDraft('');
  const [scopes, setScopes] = useState<readonly AccessScope[]>(['logs:read', 'analytics:read']);
  const [accountIds, setAccountIds] = useState<readonly string[]>([session.accountId]);
  const change = useChange(
    (wanted: Wanted) =>
      dataOf(api.POST('/api/v1/admin/tokens', { body: { type: 'access', ...wanted } })),
    () => {},
  );
  const { faults } = change;
  const submit = () => {
    const expiresAt = draft.readExpiry();
    if (expiresAt === undefined) return;
    change.start({ name: draft.name, scopes: [...scopes], accountIds: [...accountIds], expiresAt });
  };
  if (change.data !== undefined) {
    return (
      <SecretSheet
        title={<Named before="Token" name={change.data.name} />}
        secret={change.data.token}
        what="the token"
        onClose={onClose}
      />
    );
  }
  return (
    <FormSheet
      title="New access token"
      action="Create token"
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name', 'scopes', 'accountIds', 'expiresAt'])}
      onSubmit={submit}
      onClose={onClose}
    >
      <TokenFields
        draft={draft}
        faults={faults}
        nameHint="For example the person or program that reads."
      />
      <Scopes scopes={scopes} fault={faults.fields['scopes']} onChange={setScopes} />
      {session.accounts.length > 1 && (
        <Accounts
          accountIds={accountIds}
          fault={faults.fields['accountIds']}
          onChange={setAccountIds}
        />
      )}
    </FormSheet>
  );
}

interface ScopesProps {
  readonly scopes: readonly AccessScope[];
  readonly fault: string | undefined;
  readonly onChange: (scopes: readonly AccessScope[]) => void;
}

function Scopes({ scopes, fault, onChange }: ScopesProps) {
  return (
    <CheckGroup label="Scopes" fault={fault}>
      {accessScopes.map((scope) => (
        <CheckField
          key={scope}
          label={scope}
          hint={scopeWords[scope]}
          isChecked={scopes.includes(scope)}
          onChange={(isChecked) => onChange(toggled(scopes, scope, isChecked))}
        />
      ))}
    </CheckGroup>
  );
}

interface AccountsProps {
  readonly accountIds: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (accountIds: readonly string[]) => void;
}

function Accounts({ accountIds, fault, onChange }: AccountsProps) {
  const { accounts } = useApp().session;
  return (
    <CheckGroup label="Accounts (none selected: all, for operators)" fault={fault}>
      {accounts.map(({ accountId, name }) => (
        <CheckField
          key={accountId}
          label={name}
          isChecked={accountIds.includes(accountId)}
          onChange={(isChecked) => onChange(toggled(accountIds, accountId, isChecked))}
        />
      ))}
    </CheckGroup>
  );
}

function toggled<Item>(items: readonly Item[], item: Item, isIn: boolean): readonly Item[] {
  const others = items.filter((other) => other !== item);
  return isIn ? [...others, item] : others;
}
