/** How the chart is drawn. */
import { Button } from '../../parts/controls/button.tsx';
import type { MetricQuery } from '../metric-query.ts';
import styles from './plot-card.module.css';

export interface PlotToolsProps {
  readonly title: string;
  readonly query: MetricQuery;
  readonly hasBuckets: boolean;
  readonly onChange: (part: Partial<MetricQuery>) => void;
}

export function PlotTools({ title, query, hasBuckets, onChange }: PlotToolsProps) {
  const { display, isZeroBased } = query;
  return (
    <div className={styles.tools}>
      <h2>{title}</h2>
      {(hasBuckets || display === 'heat') && (
        <div className={styles.displays} role="group" aria-label="Display">
          <Button isPressed={display === 'lines'} onPress={() => onChange({ display: 'lines' })}>
            Lines
          </Button>
          <Button isPressed={display === 'heat'} onPress={() => onChange({ display: 'heat' })}>
            Heat map
          </Button>
        </div>
      )}
      {display === 'lines' && (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={isZeroBased}
            onChange={({ target }) => onChange({ isZeroBased: target.checked })}
          />
          Axis from zero
        </label>
      )}
    </div>
  );
}
