/** Chooses the field by which logs are grouped: fields, and the most frequent labels. */
import { useState } from 'react';
import { Select } from '../../parts/controls/select.tsx';
import { cutText } from '../../parts/text/visible-text.ts';
import { columnFields, fieldTitle, isStored } from '../log/log-fields.ts';
import type { ExploreQuery } from '../query.ts';
import { useLabelNames } from '../reads.ts';
import { termsOf } from '../terms.ts';
import type { Run } from '../use-run.ts';

const maxTitle = 40;

export interface GroupSelectProps {
  readonly label: string;
  /** Name of a field; empty = none. */
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly query: ExploreQuery;
  readonly run: Run;
  /** Name of the choice to group by nothing; undefined = there is none. */
  readonly none?: string;
}

export function GroupSelect({ label, value, onChange, query, run, none }: GroupSelectProps) {
  const [isNear, setIsNear] = useState(false);
  const labels = useLabelNames(run, isNear);
  const filtered = termsOf(query.text).flatMap(({ filters }) => filters.map(({ field }) => field));
  const columns = query.columns.filter(isStored);
  const names = new Set(['severity', ...columnFields, ...columns, ...filtered, ...labels]);
  if (value !== '') names.add(value);
  return (
    <Select
      label={label}
      value={value}
      choices={[
        ...(none === undefined ? [] : [['', none] as const]),
        ...Array.from(names, (name) => [name, cutText(fieldTitle(name), maxTitle)] as const),
      ]}
      onChange={onChange}
      onPointerEnter={() => setIsNear(true)}
      onFocus={() => setIsNear(true)}
    />
  );
}
