/** Tooltip with the counts of the bars under the pointer. */
import styles from './bars-readout.module.css';

export interface BarsReadoutProps {
  readonly title: string;
  readonly rows: readonly {
    readonly name: string;
    readonly color: string;
    readonly count: number;
  }[];
  /** Pointer position, 0 (left) to 1 (right). */
  readonly leftRatio: number;
}

export function BarsReadout({ title, rows, leftRatio }: BarsReadoutProps) {
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const left = `${leftRatio * 100}%`;
  return (
    <div
      className={styles.readout}
      // Placed on the side with more room.
      style={{ left, translate: leftRatio > 0.5 ? 'calc(-100% - 12px)' : '12px' }}
      aria-hidden="true"
    >
      <strong>{title}</strong>
      <dl className={styles.rows}>
        {rows.map(({ name, color, count }) => (
          <div key={name} className={styles.row}>
            <dt>
              <span className={styles.dot} style={{ background: color }} />
              {name}
            </dt>
            <dd>{count.toLocaleString('en-US')}</dd>
          </div>
        ))}
        {rows.length !== 1 && (
          <div className={styles.total}>
            <dt>all</dt>
            <dd>{total.toLocaleString('en-US')}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
