/** Loading indicator, delayed and announced by screen readers. */
import styles from './loading.module.css';

export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div className={styles.loading} role="status">
      <span className={styles.bar} aria-hidden="true" />
      <span className="only-read">{what}…</span>
    </div>
  );
}
