/** Creates a receiver, and its stream if it is new. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { dataOf } from '../api/client.ts';
import type { Stream } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { useChange } from '../manage/control.ts';
import { otherThan } from '../manage/field-faults.ts';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import {
  type DraftFaults,
  isFields,
  newDraft,
  type ReceiverFields as Fields,
  shownFields,
  toDraftFaults,
  toFields,
} from './receiver-draft.ts';
import { ReceiverFields } from './receiver-fields.tsx';

export interface CreateReceiverProps {
  readonly streams: readonly Stream[];
  readonly onClose: () => void;
}

export function CreateReceiver({ streams, onClose }: CreateReceiverProps) {
  const { api } = useApp();
  const [, go] = useLocation();
  const [draft, setDraft] = useState(() => newDraft(streams[0]?.streamId ?? ''));
  const [typedFaults, setTypedFaults] = useState<DraftFaults>({});
  const stream = useChange(
    (name: string) =>
      dataOf(api.POST('/api/v1/admin/streams', { body: { name, retentionDays: 30 } })),
    // If creating the receiver fails, the next attempt reuses the stream.
    ({ streamId }) => {
      setDraft((latest) => ({ ...latest, streamId }));
      create(streamId);
    },
  );
  const receiver = useChange(
    ({ streamId, fields }: { streamId: string; fields: Fields }) =>
      dataOf(
        api.POST('/api/v1/admin/receivers', { body: { ...fields, streamId, kind: draft.kind } }),
      ),
    ({ receiverId }) => go(`/receivers/${receiverId}`),
  );
  function create(streamId: string) {
    const fields = toFields(draft);
    if (isFields(fields)) receiver.start({ streamId, fields });
  }
  const submit = () => {
    stream.reset();
    receiver.reset();
    const fields = toFields(draft);
    setTypedFaults(isFields(fields) ? {} : fields);
    if (!isFields(fields)) return;
    if (draft.streamId === '') stream.start(draft.newStreamName);
    else create(draft.streamId);
  };
  const { faults: ofStream } = stream;
  const { faults: ofReceiver } = receiver;
  const faults = {
    ...toDraftFaults(ofReceiver.fields, draft),
    ...(ofStream.fields['name'] !== undefined && { newStreamName: ofStream.fields['name'] }),
    ...typedFaults,
  };
  return (
    <FormSheet
      title="New receiver"
      action="Create receiver"
      isBusy={stream.isBusy || receiver.isBusy}
      fault={otherThan(ofStream, ['name']) ?? otherThan(ofReceiver, shownFields)}
      onSubmit={submit}
      onClose={onClose}
    >
      <ReceiverFields
        isNew
        draft={draft}
        faults={faults}
        streams={knownStreams(streams, stream.data)}
        onChange={(change) => setDraft((latest) => ({ ...latest, ...change }))}
      />
    </FormSheet>
  );
}

/** Includes a stream created by a failed attempt. */
function knownStreams(streams: readonly Stream[], made: Stream | undefined): readonly Stream[] {
  const isListed = streams.some(({ streamId }) => streamId === made?.streamId);
  return made === undefined || isListed ? streams : [...streams, made];
}
