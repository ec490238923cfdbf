/** Fields of the receiver form. */
import type { Stream } from '../api/models.ts';
import { kindHints, kindWords, type ReceiverKind } from '../manage/kind-words.ts';
import {
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
  const known = streams.map(({ streamId, name }) => ({ value: streamId, label: name }));
  return (
    <>
      <TextField
        label="Name"
        isFirst={isNew}
        value={draft.name}
        onChange={(name) => onChange({ name })}
        fault={faults.name}
        hint="For example the sending service or team."
      />
      {isNew && (
        <SelectField
          label="Kind"
          value={draft.kind}
          onChange={(kind) => onChange({ kind: kind as ReceiverKind })}
          options={Object.entries(kindWords).map(([value, label]) => ({ value, label }))}
          fault={faults.kind}
          hint={kindHints[draft.kind]}
        />
      )}
      <FieldRow>
        <SelectField
          label="Stream"
          value={draft.streamId}
          onChange={(streamId) => onChange({ streamId })}
          options={isNew ? [...known, newStream] : known}
          fault={faults.streamId}
          hint="Receives the data."
        />
        {isNew && draft.streamId === '' && (
          <TextField
            label="Name of the new stream"
            value={draft.newStreamName}
            onChange={(newStreamName) => onChange({ newStreamName })}
            fault={faults.newStreamName}
            hint="Retention is 30 days; change it under Streams."
          />
        )}
      </FieldRow>
      <Limits {...props} />
      <TextAreaField
        label="Allowed address ranges"
        rows={3}
        value={draft.cidrs}
        onChange={(cidrs) => onChange({ cidrs })}
        placeholder={'10.0.0.0/8\n2001:db8::/32'}
        fault={faults.cidrs}
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
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>Limits</legend>
      <FieldRow>
        <TextField
          label="Events per second"
          inputMode="numeric"
          value={draft.eventsPerSecond}
          onChange={(eventsPerSecond) => onChange({ eventsPerSecond })}
          placeholder="unlimited"
          fault={faults.eventsPerSecond}
          hint="Requests above it are refused with 429."
        />
        <TextField
          label="Burst in events"
          inputMode="numeric"
          value={draft.burstEvents}
          onChange={(burstEvents) => onChange({ burstEvents })}
          placeholder="10 s of the rate"
          fault={faults.burstEvents}
          hint="Events accepted at once after a pause."
        />
        <TextField
          label="Largest body"
          value={draft.maxBodyBytes}
          onChange={(maxBodyBytes) => onChange({ maxBodyBytes })}
          placeholder="default of the protocol"
          fault={faults.maxBodyBytes}
          hint="In bytes, or as “2 MiB”. Larger bodies are refused with 413."
        />
      </FieldRow>
    </fieldset>
  );
}
