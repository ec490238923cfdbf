/** Fields of the receiver form. */
import type { Stream } from '../api/models.ts';
import { kindHints, kindWords } from '../manage/kind-words.ts';
import {
  bindInputs,
  CheckField,
  FieldRow,
  SelectField,
  TextAreaField,
  TextField,
} from '../parts/controls/fields.tsx';
import type { DraftFaults, ReceiverDraft } from './receiver-draft.ts';
import styles from './receiver-fields.module.css';

export interface ReceiverFieldsProps {
  readonly draft: ReceiverDraft;
  readonly faults: DraftFaults;
  readonly streams: readonly Stream[];
  /** The kind of a receiver cannot change. */
  readonly isNew?: boolean;
  readonly onChange: (change: Partial<ReceiverDraft>) => void;
}

const newStream = { value: '', label: 'New stream…' };

export function ReceiverFields(props: ReceiverFieldsProps) {
  const { draft, faults, streams, isNew = false, onChange } = props;
  const input = bindInputs(draft, faults, onChange);
  const known = streams.map(({ streamId, name }) => ({ value: streamId, label: name }));
  return (
    <>
      <TextField
        label="Name"
        isFirst={isNew}
        {...input('name')}
        hint="For example the sending service or team."
      />
      {isNew && (
        <SelectField
          label="Kind"
          {...input('kind')}
          options={Object.entries(kindWords).map(([value, label]) => ({ value, label }))}
          hint={kindHints[draft.kind]}
        />
      )}
      <FieldRow>
        <SelectField
          label="Stream"
          {...input('streamId')}
          options={isNew ? [...known, newStream] : known}
          hint="Receives the data."
        />
        {isNew && draft.streamId === '' && (
          <TextField
            label="Name of the new stream"
            {...input('newStreamName')}
            hint="Retention is 30 days; change it under Streams."
          />
        )}
      </FieldRow>
      <Limits {...props} />
      <TextAreaField
        label="Allowed address ranges"
        rows={3}
        {...input('cidrs')}
        placeholder={'10.0.0.0/8\n2001:db8::/32'}
        hint="One per line. Empty: all addresses may send."
      />
      <CheckField
        label="Active"
        isChecked={draft.isActive}
        onChange={(isActive) => onChange({ isActive })}
        fault={faults.isActive}
        hint="When inactive, all requests are refused with 403."
      />
    </>
  );
}

function Limits({ draft, faults, onChange }: ReceiverFieldsProps) {
  const input = bindInputs(draft, faults, onChange);
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>Limits</legend>
      <FieldRow>
        <TextField
          label="Events per second"
          inputMode="numeric"
          {...input('eventsPerSecond')}
          placeholder="unlimited"
          hint="Requests above it are refused with 429."
        />
        <TextField
          label="Burst in events"
          inputMode="numeric"
          {...input('burstEvents')}
          placeholder="10 s of the rate"
          hint="Events accepted at once after a pause."
        />
        <TextField
          label="Largest body"
          {...input('maxBodyBytes')}
          placeholder="default of the protocol"
          hint="In bytes, or as “2 MiB”. Larger bodies are refused with 413."
        />
      </FieldRow>
    </fieldset>
  );
}
