/** Edits or deletes a receiver. */
import { type SubmitEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { dataOf } from '../api/client.ts';
import type { Receiver } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { changedFields } from '../manage/changed-fields.ts';
import { useChange, useStreams } from '../manage/control.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { otherThan } from '../manage/field-faults.ts';
import { Button } from '../parts/controls/button.tsx';
import { Failure } from '../parts/feedback/answer.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { Card } from '../parts/layout/page.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import {
  type DraftFaults,
  isFields,
  type ReceiverFields as Fields,
  shownFields,
  toDraft,
  toDraftFaults,
  toFields,
} from './receiver-draft.ts';
import { ReceiverFields } from './receiver-fields.tsx';
import styles from './receiver-settings.module.css';
import { TransformCard } from './transform/transform-card.tsx';

export function ReceiverSettings({ receiver }: { receiver: Receiver }) {
  return (
    <>
      <Card title="Settings">
        <SettingsForm receiver={receiver} />
      </Card>
      {receiver.kind !== 'prometheus' && <TransformCard receiver={receiver} />}
      <Card title="Delete">
        <DeleteReceiver receiver={receiver} />
      </Card>
    </>
  );
}

type SettingsFields = Fields & { readonly streamId: string };

function fieldsOf({ name, active, allowedCidrs, limits, streamId }: Receiver): SettingsFields {
  return { name, active, allowedCidrs, limits, streamId };
}

function SettingsForm({ receiver }: { receiver: Receiver }) {
  const { api } = useApp();
  const toast = useToast();
  const streams = useStreams();
  // What the draft was made of: `receiver` may be read again, with changes of others.
  const [saved, setSaved] = useState(receiver);
  const [draft, setDraft] = useState(() => toDraft(receiver));
  const [typedFaults, setTypedFaults] = useState<DraftFaults>({});
  const { receiverId } = receiver;
  const change = useChange(
    async (fields: SettingsFields) => {
      const body = changedFields(fieldsOf(saved), fields);
      if (body === undefined) return saved;
      const params = { path: { receiverId } };
      return dataOf(api.PATCH('/api/v1/admin/receivers/{receiverId}', { params, body }));
    },
    (changed) => {
      setSaved(changed);
      // The service normalises ranges.
      setDraft(toDraft(changed));
      toast(`Saved ${changed.name}; it takes effect within 5 seconds`);
    },
  );
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.reset();
    const fields = toFields(draft);
    setTypedFaults(isFields(fields) ? {} : fields);
    if (isFields(fields)) change.start({ ...fields, streamId: draft.streamId });
  };
  const { faults } = change;
  const fault = otherThan(faults, shownFields);
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <Failure of={streams} />
      <ReceiverFields
        draft={draft}
        faults={{ ...toDraftFaults(faults.fields, draft), ...typedFaults }}
        streams={streams.data ?? []}
        onChange={(typed) => setDraft((latest) => ({ ...latest, ...typed }))}
      />
      {draft.streamId !== receiver.streamId && (
        <Notice tone="quiet">
          What it took so far stays in the stream where it is; what comes goes to the other one.
        </Notice>
      )}
      {fault !== undefined && <Notice tone="danger">{fault}</Notice>}
      <div>
        <Button type="submit" tone="primary" isDisabled={change.isBusy}>
          {change.isBusy ? 'Saving…' : 'Save'}
        </Button>
      </div>
    </form>
  );
}

function DeleteReceiver({ receiver: { receiverId, name } }: { receiver: Receiver }) {
  const { api } = useApp();
  const [, go] = useLocation();
  const [isAsking, setIsAsking] = useState(false);
  const params = { path: { receiverId } };
  return (
    <>
      <p className="quiet">
        Its address stops working and its tokens are revoked. Its data stays in the stream.
      </p>
      <div>
        <Button tone="danger" onPress={() => setIsAsking(true)}>
          Delete receiver
        </Button>
      </div>
      {isAsking && (
        <EndingDialog
          name={name}
          asked="Delete"
          done="Deleted"
          action="Delete receiver"
          isTyped
          end={() => dataOf(api.DELETE('/api/v1/admin/receivers/{receiverId}', { params }))}
          onEnded={() => go('/receivers')}
          onClose={() => setIsAsking(false)}
        >
          <p>
            Within 5 seconds all requests to it are refused and its tokens are revoked permanently.
            Its data stays in the stream until retention ends.
          </p>
        </EndingDialog>
      )}
    </>
  );
}
