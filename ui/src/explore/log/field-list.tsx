/** Table of names and values with actions. */
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/controls/button.tsx';
import { Icon, type IconName } from '../../parts/controls/icon.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { LongText } from '../../parts/text/long-text.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { cutText, toVisibleText } from '../../parts/text/visible-text.ts';
import styles from './field-list.module.css';
import type { LogActions } from './log-actions.ts';
import { type FieldRow, isColumnName, toFilter } from './log-fields.ts';
import { useCopy } from '../../parts/controls/use-copy.ts';
import { tracePath } from '../trace/trace.ts';

export interface FieldListProps {
  readonly title: string;
  readonly rows: readonly FieldRow[];
  readonly actions: LogActions;
}

/** A log may have thousands of labels; the rest is rendered on demand. */
const maxRows = 100;

export function FieldList({ title, rows, actions }: FieldListProps) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, maxRows);
  return (
    <section>
      <h3 className={styles.title}>{title}</h3>
      <dl className={styles.list}>
        {shown.map((row) => (
          <div key={row.name} className={styles.row}>
            <dt className={styles.name}>
              <LogText text={row.title} />
            </dt>
            <dd className={styles.value}>
              {row.value === '' ? <span className={styles.empty}>empty</span> : <Value row={row} />}
              {row.called !== undefined && (
                <span className={styles.called}>
                  {' '}
                  <LogText text={row.called} />
                </span>
              )}
            </dd>
            <dd className={styles.actions}>
              <ValueActions row={row} actions={actions} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < rows.length && (
        <Button tone="bare" onPress={() => setIsWhole(true)}>
          Show all {formatCount(rows.length)}
        </Button>
      )}
    </section>
  );
}

/** The id of a trace is a link to it. */
function Value({ row: { name, value } }: { row: FieldRow }) {
  const path = name === 'traceId' ? tracePath(value) : undefined;
  if (path !== undefined) return <Link href={path}>{value}</Link>;
  return <LongText text={value} maxLength={2_000} />;
}

function ValueActions({ row, actions }: { row: FieldRow; actions: LogActions }) {
  const { name, value } = row;
  const copy = useCopy();
  const title = toVisibleText(row.title);
  const pair = `${title} ${toVisibleText(cutText(value, 60)) || 'empty'}`;
  const { filter, addColumn } = actions;
  const included = filter && toFilter(name, value, false);
  const excluded = filter && toFilter(name, value, true);
  return (
    <>
      {included && <Act icon="plus" label={`Only ${pair}`} onPress={() => filter?.(included)} />}
      {excluded && (
        <Act icon="minus" label={`Without ${pair}`} onPress={() => filter?.(excluded)} />
      )}
      <Act icon="copy" label={`Copy ${title}`} onPress={() => void copy(value, title)} />
      {addColumn && isColumnName(name) && name !== 'severity' && (
        <Act icon="columns" label={`Show ${title} as a column`} onPress={() => addColumn(name)} />
      )}
    </>
  );
}

function Act({ icon, label, onPress }: { icon: IconName; label: string; onPress: () => void }) {
  return (
    <button type="button" className={styles.act} aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}
