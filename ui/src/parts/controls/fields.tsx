/** Form fields with label, hint and error, announced by screen readers. */
import { type HTMLInputTypeAttribute, type ReactNode, useId } from 'react';
import styles from './fields.module.css';
import { toVisibleText } from '../text/visible-text.ts';

interface FieldProps {
  readonly label: string;
  /** Below the field. */
  readonly hint?: ReactNode;
  /** Error message; undefined = valid. */
  readonly fault?: string | undefined;
}

interface ValueProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export interface TextFieldProps extends ValueProps {
  readonly type?: HTMLInputTypeAttribute;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isFirst?: boolean;
  readonly inputMode?: 'numeric' | 'text';
  /** For addresses, amounts and secrets: monospace. */
  readonly isMono?: boolean;
}

export function TextField(props: TextFieldProps) {
  const { type = 'text', placeholder, isRequired, isFirst, inputMode, isMono } = props;
  return (
    <Field {...props}>
      {(described) => (
        <input
          {...described}
          type={type}
          className={isMono ? styles.mono : undefined}
          value={props.value}
          placeholder={placeholder}
          required={isRequired}
          autoFocus={isFirst}
          inputMode={inputMode}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type TextOf<Draft> = {
  [Name in keyof Draft]: Draft[Name] extends string ? Name : never;
}[keyof Draft];

/** What inputs get from the draft of a form: the value, its change, and what is wrong with it. */
export function bindInputs<Draft>(
  draft: Draft,
  faults: Readonly<Partial<Record<string, string>>>,
  onChange: (change: Partial<Draft>) => void,
) {
  return <Name extends TextOf<Draft> & string>(name: Name) => ({
    value: draft[name] as string,
    onChange: (text: string) => onChange({ [name]: text } as Partial<Draft>),
    fault: faults[name],
  });
}

export interface TextAreaFieldProps extends ValueProps {
  readonly rows: number;
  readonly placeholder?: string;
}

export function TextAreaField(props: TextAreaFieldProps) {
  return (
    <Field {...props}>
      {(described) => (
        <textarea
          {...described}
          className={styles.mono}
          rows={props.rows}
          value={props.value}
          placeholder={props.placeholder}
          spellCheck={false}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export interface SelectFieldProps extends ValueProps {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SelectField(props: SelectFieldProps) {
  return (
    <Field {...props}>
      {(described) => (
        <select
          {...described}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {toVisibleText(label)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface CheckFieldProps extends FieldProps {
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, hint, fault, isChecked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id} className={styles.label}>
          {toVisibleText(label)}
        </label>
        <p id={`${id}-hint`} className={fault === undefined ? styles.hint : styles.fault}>
          {fault ?? hint}
        </p>
      </div>
    </div>
  );
}

interface CheckGroupProps {
  readonly label: string;
  readonly fault?: string | undefined;
  readonly children: ReactNode;
}

/** A group of checkboxes. */
export function CheckGroup({ label, fault, children }: CheckGroupProps) {
  return (
    <fieldset className={styles.group}>
      <legend className={styles.label}>{label}</legend>
      {children}
      <p className={styles.fault} aria-live="polite">
        {fault}
      </p>
    </fieldset>
  );
}

/** Fields side by side if there is room. */
export function FieldRow({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

function Field({
  label,
  hint,
  fault,
  children,
}: FieldProps & { children: (described: Described) => ReactNode }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': `${id}-hint ${id}-fault`,
        'aria-invalid': fault !== undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      <p id={`${id}-fault`} className={styles.fault} aria-live="polite">
        {fault}
      </p>
    </div>
  );
}
