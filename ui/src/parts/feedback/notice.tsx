/** A highlighted message. */
import type { ReactNode } from 'react';
import styles from './notice.module.css';

export interface NoticeProps {
  readonly tone: 'quiet' | 'warning' | 'danger' | 'success';
  readonly children: ReactNode;
}

export function Notice({ tone, children }: NoticeProps) {
  return (
    <div className={styles[tone]} role={tone === 'danger' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
