/** Dialog that shows a new secret once. */
import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import styles from './form-sheet.module.css';
import { SecretOnce } from './secret-once.tsx';
import { Sheet } from './sheet.tsx';

export interface SecretSheetProps {
  readonly title: ReactNode;
  readonly secret: string;
  /** Display name of the secret, such as `the token`. */
  readonly what: string;
  /** Additional text. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

export function SecretSheet({ title, secret, what, children, onClose }: SecretSheetProps) {
  return (
    <Sheet title={title} isPinned onClose={onClose}>
      <SecretOnce secret={secret} what={what} />
      {children}
      <div className={styles.actions}>
        <Button tone="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Sheet>
  );
}
