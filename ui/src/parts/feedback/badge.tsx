/** A word for a state, with a colour that repeats it. */
import styles from './badge.module.css';

export type BadgeTone = 'success' | 'warning' | 'danger' | 'quiet';

export function Badge({ tone, children }: { tone: BadgeTone; children: string }) {
  return (
    <span className={styles[tone]}>
      <span className={styles.dot} aria-hidden="true" />
      {children}
    </span>
  );
}
