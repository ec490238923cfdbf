/** Ticks below a chart that has no axis of its own. */
import styles from './time-axis.module.css';
import { type TimeAxis as Ticks, timeTicks } from './time-ticks.ts';

export interface TimeAxisProps extends Omit<Ticks, 'maxTicks'> {
  /** Pixels of the chart. */
  readonly width: number;
}

export function TimeAxis({ startMs, endMs, width, zone }: TimeAxisProps) {
  const maxTicks = Math.max(2, Math.floor(width / 90));
  const ticks = endMs > startMs ? timeTicks({ startMs, endMs, maxTicks, zone }) : [];
  const ratio = (ms: number) => (ms - startMs) / (endMs - startMs);
  return (
    <div className={styles.axis} aria-hidden="true">
      {ticks
        // A label at the edge would be cut off.
        .filter(({ ms }) => ratio(ms) * width > 20 && ratio(ms) * width < width - 20)
        .map(({ ms, label }) => (
          <span key={ms} style={{ left: `${ratio(ms) * 100}%` }}>
            {label}
          </span>
        ))}
    </div>
  );
}
