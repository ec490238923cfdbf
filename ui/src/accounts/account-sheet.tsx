/** Creates an account, or changes its name and quota. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import type { Account } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { changedFields } from '../manage/changed-fields.ts';
import { useChange } from '../manage/control.ts';
import { otherThan } from '../manage/field-faults.ts';
import { TextField } from '../parts/controls/fields.tsx';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';

export interface AccountSheetProps {
  /** Undefined = a new one. */
  readonly account: Account | undefined;
  readonly onClose: () => void;
}

interface AccountFields {
  readonly name: string;
  readonly eventsPerSecond: number | null;
}

export function AccountSheet({ account, onClose }: AccountSheetProps) {
  const { api, refreshSession } = useApp();
  const toast = useToast();
  const [name, setName] = useState(account?.name ?? '');
  const [rate, setRate] = useState(account?.eventsPerSecond?.toString() ?? '');
  const [rateFault, setRateFault] = useState<string>();
  const change = useChange(
    async (fields: AccountFields) => {
      if (account === undefined) {
        return dataOf(api.POST('/api/v1/admin/accounts', { body: fields }));
      }
      const body = changedFields(fieldsOf(account), fields);
      if (body === undefined) return account;
      const params = { path: { accountId: account.accountId } };
      return dataOf(api.PATCH('/api/v1/admin/accounts/{accountId}', { params, body }));
    },
    () => {
      toast(account === undefined ? `Created ${name}` : `Saved ${name}`);
      refreshSession();
      onClose();
    },
  );
  const { faults } = change;
  const submit = () => {
    const isRate = /^\d*$/.test(rate.trim());
    setRateFault(isRate ? undefined : 'Enter a whole number, or leave it empty.');
    if (isRate) change.start({ name, eventsPerSecond: rate.trim() === '' ? null : Number(rate) });
  };
  return (
    <FormSheet
      title={account === undefined ? 'New account' : <Named before="Edit" name={account.name} />}
      action={account === undefined ? 'Create account' : 'Save'}
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name', 'eventsPerSecond'])}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isFirst
        value={name}
        onChange={setName}
        fault={faults.fields['name']}
        hint="Accounts never see each other's data."
      />
      <TextField
        label="Events per second"
        inputMode="numeric"
        value={rate}
        onChange={setRate}
        placeholder="unlimited"
        fault={rateFault ?? faults.fields['eventsPerSecond']}
        hint="Total of all its receivers. Requests above it are refused with 429."
      />
    </FormSheet>
  );
}

function fieldsOf({ name, eventsPerSecond }: Account): AccountFields {
  return { name, eventsPerSecond };
}
