/** Table of matching series: visibility, distinguishing labels, current value. */
import { formatValue } from '../charts/format-value.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import type { LabelFilter } from './metric-query.ts';
import { type Labels, type SampledSeries, seriesKey, varyingLabels } from './remote-read.ts';
import styles from './series-table.module.css';

export interface SeriesTableProps {
  readonly series: readonly Labels[];
  /** Colour by series key. */
  readonly colors: ReadonlyMap<string, string>;
  readonly samples: ReadonlyMap<string, SampledSeries>;
  /** Labels already filtered. */
  readonly chosen: readonly LabelFilter[];
  readonly onToggle: (key: string) => void;
  readonly onFilter: (label: LabelFilter) => void;
}

export function SeriesTable({ series, colors, samples, chosen, ...actions }: SeriesTableProps) {
  const varying = varyingLabels(series);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Drawn</th>
          <th scope="col">Labels</th>
          <th scope="col" className={styles.number}>
            Last
          </th>
        </tr>
      </thead>
      <tbody>
        {series.map((labels) => {
          const key = seriesKey(labels);
          return (
            <Row
              key={key}
              labels={Object.entries(labels).filter(([name]) => varying.has(name))}
              color={colors.get(key)}
              last={samples.get(key)?.values.findLast(Number.isFinite)}
              isChosen={(name) => chosen.some((label) => label.name === name)}
              onToggle={() => actions.onToggle(key)}
              onFilter={actions.onFilter}
            />
          );
        })}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly color: string | undefined;
  readonly last: number | undefined;
  readonly isChosen: (name: string) => boolean;
  readonly onToggle: () => void;
  readonly onFilter: (label: LabelFilter) => void;
}

function Row({ labels, color, last, isChosen, onToggle, onFilter }: RowProps) {
  const words = labels.map(([name, value]) => `${name} ${value}`).join(', ') || 'the only series';
  return (
    <tr>
      <td>
        <label className={styles.drawn}>
          <input
            type="checkbox"
            checked={color !== undefined}
            onChange={onToggle}
            aria-label={`Draw ${words}`}
          />
          <span className={styles.swatch} style={{ background: color ?? 'transparent' }} />
        </label>
      </td>
      <td className={styles.labels}>
        {labels.length === 0 && <span className={styles.only}>the only series</span>}
        {labels.map(([name, value]) => (
          <span key={name} className={styles.label}>
            <LogText text={`${name}="${value}"`} />
            {!isChosen(name) && (
              <Button
                tone="bare"
                label={`Only ${name}="${value}"`}
                onPress={() => onFilter({ name, value })}
              >
                <Icon name="filter" />
              </Button>
            )}
          </span>
        ))}
      </td>
      <td className={styles.number}>{last === undefined ? '–' : formatValue(last)}</td>
    </tr>
  );
}
