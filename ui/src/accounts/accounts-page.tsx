/** Accounts, for operators. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import type { Account } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { useAccounts } from '../manage/control.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { Ago } from '../parts/text/ago.tsx';
import { Button } from '../parts/controls/button.tsx';
import { actions, type Column, DataTable } from '../parts/layout/data-table.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Loading } from '../parts/feedback/loading.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { Menu } from '../parts/controls/menu.tsx';
import { Card, Page } from '../parts/layout/page.tsx';
import { ProblemNotice } from '../parts/feedback/problem-notice.tsx';
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
        {accounts.isError && (
          <ProblemNotice error={accounts.error} onRetry={() => void accounts.refetch()} />
        )}
        {accounts.data === undefined ? (
          !accounts.isError && <Loading what="Loading accounts" />
        ) : (
          <DataTable
            caption="Accounts"
            columns={columnsOf(session.accountId, switchAccount, setStep)}
            rows={accounts.data}
            keyOf={({ accountId }) => accountId}
          />
        )}
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
    {
      header: actions,
      isAtEnd: true,
      cell: (account) => (
        <Menu
          label={`More for ${account.name}`}
          items={[
            { label: 'Edit', onPick: () => onStep({ name: 'edit', account }) },
            {
              label: 'Delete',
              isDangerous: true,
              onPick: () => onStep({ name: 'delete', account }),
            },
          ]}
        />
      ),
    },
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
