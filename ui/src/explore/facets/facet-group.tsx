/** One field of the sidebar: its most frequent values, more on demand, and a search box. */
import { useId, useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Failure } from '../../parts/feedback/answer.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { useValues } from '../reads.ts';
import { cutText, toVisibleText } from '../../parts/text/visible-text.ts';
import { fieldTitle } from '../log/log-fields.ts';
import { type Filter, withoutField } from '../terms.ts';
import type { Run } from '../use-run.ts';
import { type FacetField, type FacetRow, facetRows } from './facet-fields.ts';
import styles from './facet-group.module.css';
import { FacetValue } from './facet-value.tsx';

export interface FacetGroupProps extends FacetField {
  /** Absent = counted while it is open. */
  readonly rows?: readonly FacetRow[];
  readonly total?: number;
  /** Logs with other values. */
  readonly other?: number;
  readonly run: Run;
  readonly filters: readonly Filter[];
  readonly nameOf: (value: string) => string | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onFilter: (filter: Filter) => void;
  readonly onRemove: (filter: Filter) => void;
}

export function FacetGroup(props: FacetGroupProps) {
  const { field, name, run, filters, isOpen, onToggle, nameOf } = props;
  const { rows: given, total = 0, other = 0 } = props;
  const [hasMore, setHasMore] = useState(false);
  const [wanted, setWanted] = useState('');
  const listId = useId();
  const title = toVisibleText(cutText(fieldTitle(field), maxTitle));
  // Counted without the field's own filters, so that other values remain selectable.
  const isChosen = filters.some((filter) => filter.field === field && !filter.isExcluded);
  const topK = hasMore ? 100 : isChosen || given === undefined ? 10 : 0;
  const all = useValues(isChosen ? ofOthers(run, field) : run, name, isOpen ? topK : 0);
  const counted = topK > 0 && all.data ? all.data : { total, other };
  const rows = topK > 0 && all.data ? facetRows(all.data, field, filters) : (given ?? []);
  const shown = rows.filter(({ value }) => contains(nameOf(value) ?? value, wanted));

  return (
    <section className={styles.group} aria-label={title}>
      <h3>
        <button
          type="button"
          className={styles.title}
          aria-expanded={isOpen}
          aria-controls={listId}
          onClick={onToggle}
        >
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <span className={styles.name}>{title}</span>
          {!isOpen && <ActiveMark filters={filters.filter((filter) => filter.field === field)} />}
        </button>
      </h3>
      <div id={listId} hidden={!isOpen}>
        {hasMore && (
          <input
            className={styles.find}
            aria-label={`Find a value of ${title}`}
            placeholder="Find a value"
            autoFocus
            value={wanted}
            onChange={({ target }) => setWanted(target.value)}
          />
        )}
        {given === undefined && isOpen && all.isPending && (
          <p className={styles.rest}>Counting values…</p>
        )}
        <ul className={styles.values}>
          {shown.map((row) => (
            <FacetValue
              key={row.value}
              row={row}
              total={counted.total}
              field={field}
              title={title}
              shownValue={nameOf(row.value) ?? row.value}
              onFilter={props.onFilter}
              onRemove={props.onRemove}
            />
          ))}
        </ul>
        {topK > 0 && <Failure of={all} />}
        <Rest
          other={counted.other}
          hasMore={hasMore}
          title={title}
          onToggle={() => {
            setHasMore(!hasMore);
            setWanted('');
          }}
        />
      </div>
    </section>
  );
}

const maxTitle = 120;

function ofOthers(run: Run, field: string): Run {
  const query = withoutField(run.filters.query ?? '', field);
  return { ...run, filters: query === '' ? {} : { query } };
}

interface RestProps {
  readonly other: number;
  readonly hasMore: boolean;
  readonly title: string;
  readonly onToggle: () => void;
}

/** How many logs have other values, and a button to show them. */
function Rest({ other, hasMore, title, onToggle }: RestProps) {
  if (other === 0 && !hasMore) return null;
  return (
    <p className={styles.rest}>
      <Button
        tone="bare"
        label={hasMore ? `Fewer values of ${title}` : `More values of ${title}`}
        onPress={onToggle}
      >
        {hasMore ? 'Fewer' : 'More'}
      </Button>
      {other > 0 && <span>{formatCount(other)} others</span>}
    </p>
  );
}

function ActiveMark({ filters }: { filters: readonly Filter[] }) {
  return filters.length > 0 && <span className={styles.active}>{filters.length}</span>;
}

function contains(value: string, wanted: string): boolean {
  return value.toLowerCase().includes(wanted.trim().toLowerCase());
}
