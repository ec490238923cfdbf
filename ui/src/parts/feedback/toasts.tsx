/** Short messages that disappear: copied, saved, revoked. */
import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';
import styles from './toasts.module.css';

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={4000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

/** @returns shows a message */
export function useToast(): (sentence: string) => void {
  const { add } = Toast.useToastManager();
  return (sentence) => void add({ title: sentence });
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles.toast}>
      <Toast.Title className={styles.title} />
    </Toast.Root>
  ));
}
