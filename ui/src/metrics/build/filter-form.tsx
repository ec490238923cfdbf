/** Adds a condition on a label; values are offered, and any text is accepted. */
import { useId, useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { Select } from '../../parts/controls/select.tsx';
import type { Bounds } from '../metric-query.ts';
import { useLabelValues } from '../metric-reads.ts';
import builderStyles from './builder-form.module.css';
import { type FilterOp, filterOps, type LabelFilter } from './built-query.ts';
import styles from './filter-form.module.css';

export interface FilterFormProps {
  readonly metric: string;
  /** Labels of the metric. */
  readonly names: readonly string[];
  readonly bounds: Bounds;
  readonly onAdd: (filter: LabelFilter) => void;
}

const opWords: Readonly<Record<FilterOp, string>> = {
  '=': '= is',
  '!=': '!= is not',
  '=~': '=~ matches',
  '!~': '!~ does not match',
};

/** More would slow the browser down; typing narrows them. */
const maxOffered = 1000;

export function FilterForm({ metric, names, bounds, onAdd }: FilterFormProps) {
  const [name, setName] = useState('');
  const [op, setOp] = useState<FilterOp>('=');
  const [value, setValue] = useState('');
  const listId = useId();
  const values = useLabelValues(metric, name, bounds).data ?? [];
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (name === '') return;
        onAdd({ name, op, value });
        setValue('');
      }}
    >
      <label className={builderStyles.field}>
        Filter
        <Select
          label="Label"
          value={name}
          choices={[['', 'add a label'], ...names]}
          onChange={setName}
        />
      </label>
      {name !== '' && (
        <>
          <Select
            label="Comparison"
            value={op}
            choices={filterOps.map((one) => [one, opWords[one]] as const)}
            onChange={setOp}
          />
          <input
            aria-label={`Value of ${name}`}
            className={styles.value}
            list={listId}
            value={value}
            placeholder="value"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setValue(target.value)}
          />
          <datalist id={listId}>
            {values.slice(0, maxOffered).map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <Button type="submit">Add filter</Button>
        </>
      )}
    </form>
  );
}
