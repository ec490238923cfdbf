/** Accounts, for operators. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import type { Account } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { useAccounts } from '../manage/control.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { Ago } from '../parts/text/ago.tsx';
import { Button } from '../parts/controls/button.tsx';
import { type Column, DataTable, menuColumn } from '../parts/layout/data-table.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import { AccountSheet } from './account-sheet.tsx';

type Step =
  | { readonly name: 'create' }
  | { readonly name: 'edit' | 'delete'; readonly account: Account };

export function AccountsPage() {
  const { session, switchAccount } = useApp();
  const accounts = useAccounts();
  const [step, setStep] = useState<Step>();
  const close = () => setStep(undefined);
  return (
    <Page
      title="Accounts"
      actions={
        <Button tone="primary" onPress={() => setStep({ name: 'create' })}>
          <Icon name="plus" /> New account
        </Button>
      }
    >
      <Card>
        <Answer of={accounts} what="Loading accounts">
          {(rows) => (
            <DataTable
              caption="Accounts"
              columns={columnsOf(session.accountId, switchAccount, setStep)}
              rows={rows}
              keyOf={({ accountId }) => accountId}
            />
          )}
        </Answer>
      </Card>
      {step?.name === 'create' && <AccountSheet account={undefined} onClose={close} />}
      {step?.name === 'edit' && <AccountSheet account={step.account} onClose={close} />}
      {step?.name === 'delete' && <DeleteAccount account={step.account} onClose={close} />}
    </Page>
  );
}

function columnsOf(
  activeId: string,
  onSwitch: (accountId: string) => void,
  onStep: (step: Step) => void,
): Column<Account>[] {
  return [
    { header: 'Name', cell: ({ name }) => <LogText text={name} /> },
    { header: 'Account', cell: ({ accountId }) => <code>{accountId}</code> },
    {
      header: 'Events per second',
      cell: ({ eventsPerSecond }) =>
        eventsPerSecond === null ? 'unlimited' : formatCount(eventsPerSecond),
    },
    { header: 'Created', isTight: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      header: 'Selected',
      cell: ({ accountId }) =>
        accountId === activeId ? (
          'now'
        ) : (
          <Button onPress={() => onSwitch(accountId)}>Switch to this account</Button>
        ),
    },
    menuColumn((account) => [
      { label: 'Edit', onPick: () => onStep({ name: 'edit', account }) },
      { label: 'Delete', onPick: () => onStep({ name: 'delete', account }), isDangerous: true },
    ]),
  ];
}

function DeleteAccount({
  account: { accountId, name },
  onClose,
}: {
  account: Account;
  onClose: () => void;
}) {
  const { api, refreshSession } = useApp();
  const params = { path: { accountId } };
  return (
    <EndingDialog
      name={name}
      asked="Delete"
      done="Deleted"
      action="Delete account"
      isTyped
      end={() => dataOf(api.DELETE('/api/v1/admin/accounts/{accountId}', { params }))}
      onEnded={refreshSession}
      onClose={onClose}
    >
      <p>
        Its tokens are deleted too. Delete its streams and receivers first: an account with streams
        or receivers cannot be deleted.
      </p>
    </EndingDialog>
  );
}
