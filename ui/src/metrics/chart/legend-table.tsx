/** The legend: which series are drawn, their values, and what to do with their labels. */
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import styles from './legend-table.module.css';
import { letterOf, type PlottedSeries, type Ranking, type Summary } from './plotted-series.ts';

export interface LegendRow {
  readonly series: PlottedSeries;
  readonly summary: Summary;
  /** undefined = not drawn. */
  readonly color: string | undefined;
  /** Labels that tell it apart. */
  readonly labels: readonly (readonly [name: string, value: string])[];
}

export interface LegendTableProps {
  readonly rows: readonly LegendRow[];
  readonly hasLetters: boolean;
  readonly ranking: Ranking;
  readonly format: (value: number) => string;
  readonly onRank: (ranking: Ranking) => void;
  readonly onToggle: (key: string) => void;
  readonly onOnly: (key: string) => void;
  /** Absent for a query that takes no filter. */
  readonly canFilter: (query: number) => boolean;
  readonly onFilter: (query: number, label: { name: string; value: string }) => void;
}

const columns: readonly (readonly [Ranking, string])[] = [
  ['last', 'Last'],
  ['mean', 'Mean'],
  ['min', 'Min'],
  ['max', 'Max'],
];

export function LegendTable(props: LegendTableProps) {
  const { rows, ranking, onRank } = props;
  return (
    <div className={styles.frame} tabIndex={0} role="region" aria-label="Legend">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Drawn</th>
            <th scope="col">Series</th>
            {columns.map(([name, title]) => (
              <th
                key={name}
                scope="col"
                className={styles.number}
                aria-sort={ranking === name ? 'descending' : undefined}
              >
                <button type="button" className={styles.rank} onClick={() => onRank(name)}>
                  {title}
                  {ranking === name && ' ↓'}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.series.key} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, hasLetters, format, ...actions }: { row: LegendRow } & LegendTableProps) {
  const { series, summary, color, labels } = row;
  const letter = hasLetters ? `${letterOf(series.query)} ` : '';
  const words = labels.map(([name, value]) => `${name} ${value}`).join(', ') || 'the only series';
  return (
    <tr>
      <td>
        <span className={styles.drawn}>
          <input
            type="checkbox"
            checked={color !== undefined}
            onChange={() => actions.onToggle(series.key)}
            aria-label={`Draw ${letter}${words}`}
          />
          <button
            type="button"
            className={styles.swatch}
            style={{ background: color ?? 'transparent' }}
            aria-label={`Draw only ${letter}${words}`}
            title="Draw only this"
            onClick={() => actions.onOnly(series.key)}
          />
        </span>
      </td>
      <td className={styles.labels}>
        {hasLetters && <strong>{letter}</strong>}
        {labels.length === 0 && <span className="quiet">the only series</span>}
        {labels.map(([name, value]) => (
          <span key={name} className={styles.label} title={value}>
            <LogText text={name === '__name__' ? value : `${name}="${value}"`} />
            {name !== '__name__' && actions.canFilter(series.query) && (
              <Button
                tone="bare"
                label={`Only ${name}="${value}"`}
                onPress={() => actions.onFilter(series.query, { name, value })}
              >
                <Icon name="filter" />
              </Button>
            )}
          </span>
        ))}
      </td>
      {columns.map(([name]) => (
        <td key={name} className={styles.number}>
          {Number.isNaN(summary[name]) ? '–' : format(summary[name])}
        </td>
      ))}
    </tr>
  );
}
