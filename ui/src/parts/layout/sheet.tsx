/** Modal dialog; Escape or a click outside closes it and restores the focus. */
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import styles from './sheet.module.css';

export interface SheetProps {
  readonly title: ReactNode;
  /** Default true. */
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Default `middle`. */
  readonly width?: 'middle' | 'wide';
}

export function Sheet({ title, isOpen = true, onClose, children, width = 'middle' }: SheetProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={[styles.popup, styles[width]].join(' ')}>
          <header className={styles.header}>
            <Dialog.Title className={styles.title}>{title}</Dialog.Title>
            <Button tone="bare" label="Close" onPress={onClose}>
              <Icon name="close" />
            </Button>
          </header>
          <div className={styles.body}>{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
