/** Tooltip with the values at the hovered time, largest first. */
import { LogText } from '../parts/text/log-text.tsx';
import { formatMs, type Zone } from '../parts/text/time-text.ts';
import { type alignSeries, type TimedValues, valueAt } from './aligned-series.ts';
import styles from './time-readout.module.css';

export interface Line extends TimedValues {
  /** Labels that distinguish this series. */
  readonly name: string;
  /** Any CSS colour. */
  readonly color: string;
}

/** Hovered index in the data, and its place in the chart. */
export interface Pointer {
  readonly index: number;
  /** Pixels from the left. */
  readonly left: number;
  readonly isRightHalf: boolean;
}

export interface TimeReadoutProps {
  readonly pointer: Pointer;
  readonly lines: readonly Line[];
  readonly data: ReturnType<typeof alignSeries>;
  readonly zone: Zone;
  readonly format: (value: number) => string;
}

/** More would not fit into the chart. */
const maxRows = 12;

export function TimeReadout({ pointer, lines, data, zone, format }: TimeReadoutProps) {
  const { index, left, isRightHalf } = pointer;
  const [seconds, ...columns] = data;
  const rows = lines
    .map((line, place) => ({ line, value: valueAt(columns[place] ?? [], index) }))
    .filter(({ value }) => value !== undefined)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  if (rows.length === 0) return null;
  return (
    <div
      className={styles.readout}
      // Placed on the side with more room.
      style={isRightHalf ? { right: `calc(100% - ${left - 12}px)` } : { left: left + 12 }}
      aria-hidden="true"
    >
      <strong>{formatMs((seconds[index] ?? 0) * 1000, zone)}</strong>
      {rows.slice(0, maxRows).map(({ line, value }) => (
        <div key={line.name} className={styles.row}>
          <span className={styles.swatch} style={{ background: line.color }} />
          <span className={styles.name}>
            <LogText text={line.name} />
          </span>
          <span>{format(value ?? 0)}</span>
        </div>
      ))}
      {rows.length > maxRows && <span>and {rows.length - maxRows} more</span>}
    </div>
  );
}
