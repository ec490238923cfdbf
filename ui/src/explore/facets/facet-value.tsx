/** One value with its count: click includes it; Alt-click, `-` or the small button excludes it. */
import { useContext } from 'react';
import { Icon } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { cutText, toVisibleText } from '../../parts/text/visible-text.ts';
import { ServiceColors } from '../service-color.ts';
import { severityColor, severityFamily } from '../severity-family.ts';
import type { Filter } from '../terms.ts';
import type { FacetRow } from './facet-fields.ts';
import styles from './facet-value.module.css';

export interface FacetValueProps {
  readonly row: FacetRow;
  readonly total: number;
  readonly field: Filter['field'];
  /** Total of the field. */
  readonly title: string;
  /** Displayed instead of the value, such as the name of a stream. */
  readonly shownValue: string;
  readonly onFilter: (filter: Filter) => void;
  readonly onRemove: (filter: Filter) => void;
}

const maxShown = 120;

export function FacetValue({ row, total, field, title, shownValue, ...actions }: FacetValueProps) {
  const { value, count, state } = row;
  const serviceColor = useContext(ServiceColors);
  const words =
    value === '' ? `no ${title.toLowerCase()}` : toVisibleText(cutText(shownValue, maxShown));
  const filterBy = (wanted: 'included' | 'excluded') => {
    const filter = { field, value, isExcluded: wanted === 'excluded' };
    if (state === wanted) actions.onRemove(filter);
    else actions.onFilter(filter);
  };
  return (
    <li
      className={styles[state]}
      style={{ '--share': `${total === 0 ? 0 : (count / total) * 100}%` } as React.CSSProperties}
    >
      <button
        type="button"
        className={styles.include}
        aria-pressed={state === 'included'}
        aria-keyshortcuts="-"
        title={`${words}\nClick to include, Alt-click or - to exclude`}
        onClick={({ altKey }) => filterBy(altKey ? 'excluded' : 'included')}
        onKeyDown={({ key }) => {
          if (key === '-') filterBy('excluded');
        }}
      >
        {(field === 'severity' || field === 'serviceName') && (
          <span
            className={styles.dot}
            style={{
              background:
                field === 'severity'
                  ? severityColor(severityFamily(value))
                  : `var(${serviceColor(value)})`,
            }}
          />
        )}
        <span className={styles.text}>
          {value === '' ? <em>none</em> : <LogText text={cutText(shownValue, maxShown)} />}
        </span>{' '}
        <span className={styles.count}>{formatCount(count)}</span>
      </button>
      <button
        type="button"
        className={styles.exclude}
        // One tab stop per value: the key `-` does the same.
        tabIndex={-1}
        aria-pressed={state === 'excluded'}
        aria-label={`Hide ${words}`}
        title={state === 'excluded' ? 'Show these again' : 'Hide these'}
        onClick={() => filterBy('excluded')}
      >
        <Icon name={state === 'excluded' ? 'plus' : 'minus'} />
      </button>
    </li>
  );
}
