/** Confirmation of an irreversible action. */
import { type SubmitEvent, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/fields.tsx';
import styles from './form-sheet.module.css';
import { ProblemNotice } from '../feedback/problem-notice.tsx';
import { Sheet, type SheetProps } from './sheet.tsx';

/** The children state the consequence. */
export interface ConfirmDialogProps extends Omit<SheetProps, 'width' | 'isOpen' | 'isPinned'> {
  /** Label of the button, such as `Delete`. */
  readonly action: string;
  readonly isBusy: boolean;
  /** Error of the attempt; null = none. */
  readonly error: unknown;
  readonly onConfirm: () => void;
  /** Must be typed to enable the button, for actions that delete data. */
  readonly typed?: string;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, isBusy, error, onConfirm, onClose, typed } = props;
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Sheet title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        {children}
        {typed !== undefined && (
          <TextField
            label={`Type “${typed}” to continue`}
            value={text}
            onChange={setText}
            isFirst
          />
        )}
        {error !== null && <ProblemNotice error={error} />}
        <div className={styles.actions}>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            tone="danger"
            isDisabled={isBusy || (typed !== undefined && text.trim() !== typed.trim())}
          >
            {action}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
