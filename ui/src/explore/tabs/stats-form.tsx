/** Chooses a statistic, and the field of its numbers. */
import { useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { Select } from '../../parts/controls/select.tsx';
import styles from './tabs.module.css';

const ops = ['count', 'rate', 'sum', 'avg', 'min', 'max', 'uniq', 'p50', 'p90', 'p95', 'p99'];
const withoutField: readonly string[] = ['count', 'rate'];

export interface StatsFormProps {
  /** Such as `count` or `p95(label.duration_ms)`. */
  readonly stat: string;
  readonly onStat: (stat: string) => void;
}

export function StatsForm({ stat, onStat }: StatsFormProps) {
  const [, shownOp = stat, shownField = ''] = /^([^(]*)\((.*)\)$/s.exec(stat) ?? [];
  const [op, setOp] = useState(shownOp);
  const [field, setField] = useState(shownField);
  const needsField = !withoutField.includes(op);
  return (
    <form
      className={styles.control}
      onSubmit={(event) => {
        event.preventDefault();
        onStat(needsField ? `${op}(${field.trim()})` : op);
      }}
    >
      <label className={styles.control}>
        Statistic
        <Select
          label="Statistic"
          value={op}
          choices={[...new Set([...ops, shownOp])]}
          onChange={(next) => {
            setOp(next);
            if (withoutField.includes(next)) onStat(next);
          }}
        />
      </label>
      {needsField && (
        <>
          <label className={styles.control}>
            Field
            <input
              aria-label="Field"
              value={field}
              required
              placeholder="label.duration_ms"
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setField(target.value)}
            />
          </label>
          <Button type="submit">Compute</Button>
        </>
      )}
    </form>
  );
}
