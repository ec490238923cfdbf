/** Frame of a management page: title, actions, content. */
import type { ReactNode } from 'react';
import styles from './page.module.css';

export interface PageProps {
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, actions, children }: PageProps) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>{title}</h1>
        <div className={styles.actions}>{actions}</div>
      </header>
      {children}
    </div>
  );
}

export function Card({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className={styles.card}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  );
}
