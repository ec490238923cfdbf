/** Asks before something is ended for good, ends it, and says so. */
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../parts/layout/confirm-dialog.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { useChange } from './control.ts';
import { toTypedWord } from './typed-word.ts';

export interface EndingDialogProps {
  /** Of what is ended. */
  readonly name: string;
  /** Before the name: `Delete`, `Delete the data of`, and once it is done. */
  readonly asked: string;
  readonly done: string;
  /** On the button. */
  readonly action: string;
  /** Whether the name has to be typed first; default not. */
  readonly isTyped?: boolean;
  readonly end: () => Promise<unknown>;
  readonly onEnded?: () => void;
  readonly onClose: () => void;
  /** What goes with it. */
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
      title={
        <>
          {asked} <LogText text={name} />?
        </>
      }
      action={action}
      {...(isTyped && { typed: toTypedWord(name) })}
      isOpen
      isBusy={change.isBusy}
      error={change.error}
      onConfirm={() => change.start(undefined)}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
