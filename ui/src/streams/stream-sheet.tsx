/** Creates or edits a stream. */
import { useState } from 'react';
import { dataOf } from '../api/client.ts';
import type { Stream } from '../api/models.ts';
import { useApp } from '../app/context.ts';
import { changedFields } from '../manage/changed-fields.ts';
import { useChange } from '../manage/control.ts';
import { otherThan } from '../manage/field-faults.ts';
import { TextField } from '../parts/controls/fields.tsx';
import { FormSheet } from '../parts/layout/form-sheet.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { Notice } from '../parts/feedback/notice.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';

export interface StreamSheetProps {
  /** Undefined = a new one. */
  readonly stream: Stream | undefined;
  readonly onClose: () => void;
}

interface StreamFields {
  readonly name: string;
  readonly retentionDays: number;
  readonly downsampling: string | null;
}

export function StreamSheet({ stream, onClose }: StreamSheetProps) {
  const { api } = useApp();
  const toast = useToast();
  const [name, setName] = useState(stream?.name ?? '');
  const [days, setDays] = useState(String(stream?.retentionDays ?? 30));
  const [levels, setLevels] = useState(stream?.downsampling ?? '');
  const [daysFault, setDaysFault] = useState<string>();
  const change = useChange(
    async (fields: StreamFields) => {
      if (stream === undefined) return dataOf(api.POST('/api/v1/admin/streams', { body: fields }));
      const body = changedFields(fieldsOf(stream), fields);
      if (body === undefined) return stream;
      const params = { path: { streamId: stream.streamId } };
      return dataOf(api.PATCH('/api/v1/admin/streams/{streamId}', { params, body }));
    },
    () => {
      toast(stream === undefined ? `Created ${name}` : `Saved ${name}`);
      onClose();
    },
  );
  const { faults } = change;
  const isNumber = /^\d+$/.test(days.trim());
  const retentionDays = Number(days);
  const submit = () => {
    setDaysFault(isNumber ? undefined : 'Enter a whole number of days.');
    const downsampling = levels.trim() || null;
    if (isNumber) change.start({ name, retentionDays, downsampling });
  };
  const hides = stream !== undefined && isNumber && retentionDays < stream.retentionDays;
  return (
    <FormSheet
      title={stream === undefined ? 'New stream' : <Named before="Edit" name={stream.name} />}
      action={stream === undefined ? 'Create stream' : 'Save'}
      isBusy={change.isBusy}
      fault={otherThan(faults, ['name', 'retentionDays', 'downsampling'])}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isFirst
        value={name}
        onChange={setName}
        fault={faults.fields['name']}
        hint="For example a team or an environment."
      />
      <TextField
        label="Retention in days"
        inputMode="numeric"
        value={days}
        onChange={setDays}
        fault={daysFault ?? faults.fields['retentionDays']}
        hint={retentionHint}
      />
      <TextField
        label="Downsampling of metrics"
        value={levels}
        onChange={setLevels}
        fault={faults.fields['downsampling']}
        hint={downsamplingHint}
      />
      {hides && (
        <Notice tone="warning">
          Data received more than {retentionDays} days ago is hidden at once and then deleted;
          raising the retention later does not bring deleted data back.
        </Notice>
      )}
    </FormSheet>
  );
}

function fieldsOf({ name, retentionDays, downsampling }: Stream): StreamFields {
  return { name, retentionDays, downsampling };
}

const retentionHint =
  'Counted from the time of receipt, not from the timestamp of the log. It applies to reads at ' +
  'once; disk space is freed a little later.';

const downsamplingHint =
  'Empty keeps all samples. 30d:5m,180d:1h keeps the last sample of each 5 minutes 30 days after ' +
  'receipt, and of each hour after 180 days. It cannot be undone.';
