/**
 * Form in a dialog: fields, general error, submit button. It stays open while it is submitted: the
 * answer may be a secret that is shown once.
 */
import type { SubmitEvent } from 'react';
import { Button } from '../controls/button.tsx';
import styles from './form-sheet.module.css';
import { Notice } from '../feedback/notice.tsx';
import { Sheet, type SheetProps } from './sheet.tsx';

export interface FormSheetProps extends Omit<SheetProps, 'width' | 'isOpen' | 'isPinned'> {
  readonly onSubmit: () => void;
  /** Label of the button. */
  readonly action: string;
  readonly isBusy: boolean;
  /** Error without a field; undefined = none. */
  readonly fault?: string | undefined;
}

export function FormSheet(props: FormSheetProps) {
  const { title, onClose, onSubmit, action, isBusy, fault, children } = props;
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit();
  };
  const close = () => {
    if (!isBusy) onClose();
  };
  return (
    <Sheet title={title} onClose={close}>
      <form className={styles.form} onSubmit={submit} noValidate>
        {children}
        {fault !== undefined && <Notice tone="danger">{fault}</Notice>}
        <div className={styles.actions}>
          <Button isDisabled={isBusy} onPress={close}>
            Cancel
          </Button>
          <Button type="submit" tone="primary" isDisabled={isBusy}>
            {isBusy ? `${action}…` : action}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
