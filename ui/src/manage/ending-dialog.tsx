/** Confirms a deletion or revocation, performs it, and reports success. */
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../parts/layout/confirm-dialog.tsx';
import { Named } from '../parts/text/log-text.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { useChange } from './control.ts';
import { toTypedWord } from './typed-word.ts';

export interface EndingDialogProps {
  /** Name of the resource. */
  readonly name: string;
  /** Verb before the name, such as `Delete` or `Delete the data of`, and its past form. */
  readonly asked: string;
  readonly done: string;
  /** Label of the button. */
  readonly action: string;
  /** Whether the name must be typed; default false. */
  readonly isTyped?: boolean;
  readonly end: () => Promise<unknown>;
  readonly onEnded?: () => void;
  readonly onClose: () => void;
  /** The consequences, shown above the buttons. */
  readonly children: ReactNode;
}

export function EndingDialog({ name, asked, done, action, children, ...props }: EndingDialogProps) {
  const toast = useToast();
  const { isTyped = false, end, onEnded, onClose } = props;
  const change = useChange(end, () => {
    toast(`${done} ${name}`);
    onEnded?.();
    onClose();
  });
  return (
    <ConfirmDialog
      title={<Named before={asked} name={name} after="?" />}
      action={action}
      {...(isTyped && { typed: toTypedWord(name) })}
      isBusy={change.isBusy}
      error={change.error}
      onConfirm={() => change.start(undefined)}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
