/** Destinations of alerts. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { useChange } from '../manage/control.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { otherThan } from '../manage/field-faults.ts';
import { Button } from '../parts/controls/button.tsx';
import { bindInputs, SelectField, TextField } from '../parts/controls/fields.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { actions, type Column, DataTable } from '../parts/layout/data-table.tsx';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { Card } from '../parts/layout/page.tsx';
import { Ago } from '../parts/text/ago.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { type Notifier, useNotifiers } from './alert-reads.ts';
import styles from './alerts-page.module.css';

export function Notifiers() {
  const { api } = useApp();
  const notifiers = useNotifiers();
  const [isCreating, setIsCreating] = useState(false);
  const [ending, setEnding] = useState<Notifier>();
  const create = (
    <div>
      <Button onPress={() => setIsCreating(true)}>
        <Icon name="plus" /> New notifier
      </Button>
    </div>
  );
  return (
    <Card>
      <Answer of={notifiers} what="Loading notifiers">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No notifiers yet" action={create}>
              A notifier sends the alerts of the account to Alertmanager or to a webhook.
            </EmptyState>
          ) : (
            <>
              <DataTable
                caption="Notifiers"
                columns={columnsOf(setEnding)}
                rows={rows}
                keyOf={({ notifierId }) => notifierId}
              />
              {create}
            </>
          )
        }
      </Answer>
      {isCreating && <NotifierSheet onClose={() => setIsCreating(false)} />}
      {ending && (
        <EndingDialog
          name={ending.name}
          asked="Delete"
          done="Deleted"
          action="Delete notifier"
          end={() => {
            const params = { path: { notifierId: ending.notifierId } };
            return dataOf(api.DELETE('/api/v1/admin/notifiers/{notifierId}', { params }));
          }}
          onClose={() => setEnding(undefined)}
        >
          <p>It gets no more alerts, nor the ends of earlier ones.</p>
        </EndingDialog>
      )}
    </Card>
  );
}

const kindWords = { alertmanager: 'Alertmanager', webhook: 'Webhook' } as const;

function columnsOf(onDelete: (notifier: Notifier) => void): Column<Notifier>[] {
  return [
    { header: 'Name', cell: ({ name }) => <LogText text={name} /> },
    { header: 'Kind', cell: ({ kind }) => kindWords[kind] },
    { header: 'Address', cell: ({ url }) => <LogText text={url} /> },
    { header: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { header: 'Last delivery', cell: ({ lastSuccessAt }) => <Ago at={lastSuccessAt} /> },
    {
      header: 'Last failure',
      cell: ({ lastFailureAt, lastFailure }) => (
        <>
          <Ago at={lastFailureAt} />
          {lastFailure !== null && (
            <p className={styles.fault}>
              <LogText text={lastFailure} />
            </p>
          )}
        </>
      ),
    },
    {
      header: actions,
      isAtEnd: true,
      cell: (notifier) => (
        <Button tone="bare" label={`Delete ${notifier.name}`} onPress={() => onDelete(notifier)}>
          <Icon name="trash" />
        </Button>
      ),
    },
  ];
}

function NotifierSheet({ onClose }: { onClose: () => void }) {
  const { api } = useApp();
  const toast = useToast();
  const [fields, setFields] = useState({
    name: '',
    kind: 'alertmanager' as Notifier['kind'],
    url: '',
    secret: '',
  });
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part });
  const change = useChange(
    (body: typeof fields) => dataOf(api.POST('/api/v1/admin/notifiers', { body })),
    () => {
      toast(`Created ${fields.name}`);
      onClose();
    },
  );
  const { faults } = change;
  const input = bindInputs(fields, faults.fields, set);
  const isWebhook = fields.kind === 'webhook';
  return (
    <FormSheet
      title="New notifier"
      action="Create notifier"
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name', 'kind', 'url', 'secret'])}
      onSubmit={() => change.start({ ...fields, secret: isWebhook ? fields.secret : '' })}
      onClose={onClose}
    >
      <TextField label="Name" isFirst {...input('name')} />
      <SelectField
        label="Kind"
        {...input('kind')}
        options={Object.entries(kindWords).map(([value, label]) => ({ value, label }))}
      />
      <TextField
        label="Address"
        isMono
        {...input('url')}
        placeholder={
          isWebhook ? 'https://hooks.example.com/alerts' : 'https://alertmanager.example.com'
        }
        hint="Public addresses only, unless the operator allows others with alerts.allowedNetworks."
      />
      {isWebhook && (
        <TextField
          label="Secret"
          isMono
          {...input('secret')}
          hint="Signs each request; empty = unsigned."
        />
      )}
    </FormSheet>
  );
}
