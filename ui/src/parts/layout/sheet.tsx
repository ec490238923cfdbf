/**
 * Modal dialog; Escape or a click outside closes it, unless pinned, and restores the focus. The
 * keys of what is behind it do nothing while it is open.
 */
import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { frontDepth, SheetDepth, useShortcuts } from '../controls/shortcuts.ts';
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
  /** Only its buttons close it, not Escape or a click outside. Default false. */
  readonly isPinned?: boolean;
}

export function Sheet(props: SheetProps) {
  const { title, isOpen = true, onClose, children, width = 'middle', isPinned = false } = props;
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open) => !open && !isPinned && onClose()}
      disablePointerDismissal={isPinned}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={[styles.popup, styles[width]].join(' ')}>
          <header className={styles.header}>
            <Dialog.Title className={styles.title}>{title}</Dialog.Title>
            <Button tone="bare" label="Close" onPress={onClose}>
              <Icon name="close" />
            </Button>
          </header>
          <div className={styles.body}>
            <InFront>{children}</InFront>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Takes the keys from the page and from sheets that are open already. */
function InFront({ children }: { children: ReactNode }) {
  const [depth] = useState(() => frontDepth() + 1);
  return (
    <SheetDepth value={depth}>
      <NoKeys />
      {children}
    </SheetDepth>
  );
}

/** Registers the sheet as the one in front, even if it has no shortcuts. */
function NoKeys() {
  useShortcuts([]);
  return null;
}
