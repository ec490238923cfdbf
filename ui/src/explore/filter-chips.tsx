/** The active filters: a click inverts one, the cross (or Delete) removes it. */
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { cutText, toVisibleText } from '../parts/text/visible-text.ts';
import styles from './filter-chips.module.css';
import type { Filter } from './query.ts';
import { fieldTitle } from './log/log-fields.ts';

export interface FilterChipsProps {
  readonly filters: readonly Filter[];
  readonly streamNames: ReadonlyMap<string, string>;
  readonly onFilter: (filter: Filter) => void;
  readonly onRemove: (filter: Filter) => void;
  readonly onClear: () => void;
}

const maxShown = 80;

export function FilterChips({ filters, streamNames, ...actions }: FilterChipsProps) {
  if (filters.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {filters.map((filter) => (
        <Chip
          key={`${filter.field}\n${filter.value}`}
          filter={filter}
          value={shownValue(filter, streamNames)}
          onFilter={actions.onFilter}
          onRemove={actions.onRemove}
        />
      ))}
      <li>
        <Button tone="bare" onPress={actions.onClear}>
          Clear all
        </Button>
      </li>
    </ul>
  );
}

interface ChipProps extends Pick<FilterChipsProps, 'onFilter' | 'onRemove'> {
  readonly filter: Filter;
  readonly value: string;
}

function Chip({ filter, value, onFilter, onRemove }: ChipProps) {
  const { field, isExcluded } = filter;
  const relation = isExcluded ? 'is not' : 'is';
  const cut = cutText(value, maxShown);
  const shown = cut === value ? cut : `${cut}…`;
  const words = `${fieldTitle(field)} ${relation} ${toVisibleText(shown)}`;
  const turn = isExcluded ? 'show only these' : 'hide these';
  return (
    <li className={isExcluded ? styles.excluded : styles.included}>
      <button
        type="button"
        className={styles.turn}
        title={`Press to ${turn}, Delete to remove`}
        onClick={() => onFilter({ ...filter, isExcluded: !isExcluded })}
        onKeyDown={({ key }) => {
          if (key === 'Delete' || key === 'Backspace') onRemove(filter);
        }}
      >
        <span className={styles.field}>
          <LogText text={cutText(fieldTitle(field), maxShown)} />
        </span>{' '}
        <span className={styles.relation}>{relation}</span>{' '}
        <span className={styles.value}>
          {value === '' ? <em>empty</em> : <LogText text={shown} />}
        </span>
      </button>
      <button
        type="button"
        className={styles.remove}
        aria-label={`Remove: ${words}`}
        onClick={() => onRemove(filter)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

function shownValue({ field, value }: Filter, streamNames: ReadonlyMap<string, string>): string {
  return field === 'streamId' ? (streamNames.get(value) ?? value) : value;
}
