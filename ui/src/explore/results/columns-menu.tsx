/** Menu of the columns between severity and message, and their order. */
import { Popover } from '@base-ui/react/popover';
import { type SyntheticEvent, useId, useMemo, useState } from 'react';
import type { Log } from '../../api/models.ts';
import { Icon } from '../../parts/controls/icon.tsx';
import { toVisibleText } from '../../parts/text/visible-text.ts';
import styles from './columns-menu.module.css';
import {
  columnFields,
  type FieldName,
  fieldTitle,
  isColumnName,
  isStored,
  labelKeysOf,
  labelName,
} from '../log/log-fields.ts';

export interface ColumnsMenuProps {
  readonly logs: readonly Log[];
  readonly columns: readonly FieldName[];
  readonly onChange: (columns: readonly FieldName[]) => void;
}

export function ColumnsMenu(props: ColumnsMenuProps) {
  return (
    <Popover.Root>
      <Popover.Trigger className={`${styles.trigger ?? ''} ${styles.columns ?? ''}`}>
        <Icon name="columns" /> <span className={styles.word}>Columns</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={styles.positioner} align="end" sideOffset={4}>
          <Popover.Popup className={styles.popup} aria-label="Columns">
            <Chosen {...props} />
            <Addable {...props} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Chosen({ columns, onChange }: ColumnsMenuProps) {
  const move = (from: number, to: number) =>
    onChange(columns.toSpliced(from, 1).toSpliced(to, 0, columns[from]!));
  if (columns.length === 0) return <p className="quiet">Only the message is shown.</p>;
  return (
    <ol className={styles.chosen}>
      {columns.map((name, index) => {
        const title = toVisibleText(fieldTitle(name));
        return (
          <li key={name} className={styles.column}>
            <span className={styles.name}>{title}</span>
            <Act
              icon="chevron-down"
              isTurned
              label={`Move ${title} to the left`}
              onPress={index > 0 ? () => move(index, index - 1) : undefined}
            />
            <Act
              icon="chevron-down"
              label={`Move ${title} to the right`}
              onPress={index < columns.length - 1 ? () => move(index, index + 1) : undefined}
            />
            <Act
              icon="close"
              label={`Remove ${title}`}
              onPress={() => onChange(columns.toSpliced(index, 1))}
            />
          </li>
        );
      })}
    </ol>
  );
}

function Addable({ logs, columns, onChange }: ColumnsMenuProps) {
  const [typed, setTyped] = useState('');
  const inputId = useId();
  const names = useMemo(() => [...columnFields, ...labelKeysOf(logs).map(labelName)], [logs]);
  const wanted = typed.trim().toLowerCase();
  const typedName = isColumnName(typed.trim()) ? typed.trim() : labelName(typed.trim());
  const offered = names.filter(
    (name) => !columns.includes(name) && fieldTitle(name).toLowerCase().includes(wanted),
  );
  const isLabel = isStored(typedName);
  const add = (name: FieldName) => {
    if (!isColumnName(name) || columns.includes(name)) return;
    onChange([...columns, name]);
    setTyped('');
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (wanted !== '') add(offered[0] ?? typedName);
  };
  return (
    <form className={styles.addable} onSubmit={submit}>
      <label htmlFor={inputId}>Add a field or a label</label>
      <input
        id={inputId}
        value={typed}
        autoComplete="off"
        placeholder="host, any label, json.any.key"
        onChange={(event) => setTyped(event.target.value)}
      />
      <ul className={styles.offered}>
        {offered.slice(0, 100).map((name) => (
          <li key={name}>
            <button type="button" className={styles.offer} onClick={() => add(name)}>
              <Icon name="plus" /> {toVisibleText(fieldTitle(name))}
            </button>
          </li>
        ))}
        {offered.length === 0 && wanted !== '' && (
          <li>
            <button type="submit" className={styles.offer}>
              <Icon name="plus" /> {isLabel ? 'Label' : 'From the message:'}{' '}
              {toVisibleText(fieldTitle(typedName))}
            </button>
          </li>
        )}
      </ul>
    </form>
  );
}

interface ActProps {
  readonly icon: 'chevron-down' | 'close';
  readonly label: string;
  readonly isTurned?: boolean;
  readonly onPress: (() => void) | undefined;
}

function Act({ icon, label, isTurned, onPress }: ActProps) {
  return (
    <button
      type="button"
      className={isTurned ? styles.turned : styles.act}
      aria-label={label}
      title={label}
      disabled={onPress === undefined}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
