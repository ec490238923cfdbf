/** The most frequent values of fields and labels among the matching logs. */
import { isLabelField } from '../../../../src/model/log-fields.ts';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { useKept } from '../use-kept.ts';
import { refusalOf, useFacets, useLabelNames } from '../reads.ts';
import type { Filter } from '../terms.ts';
import type { Run } from '../use-run.ts';
import { facetFields, facetRows, isTelling } from './facet-fields.ts';
import { FacetGroup } from './facet-group.tsx';
import styles from './facet-sidebar.module.css';

export interface FacetSidebarProps {
  readonly filters: readonly Filter[];
  readonly run: Run;
  readonly streamNames: ReadonlyMap<string, string>;
  readonly onFilter: (filter: Filter) => void;
  readonly onRemove: (filter: Filter) => void;
}

export const facetFieldNames = facetFields.map(({ name }) => name).join(',');

export function FacetSidebar({ filters, run, streamNames, ...actions }: FacetSidebarProps) {
  const { data, error, isPlaceholderData, refetch } = useFacets(run, facetFieldNames, true);
  const [closed, setClosed] = useKept<readonly string[]>('weir.facets.closed', []);
  const [opened, setOpened] = useKept<readonly string[]>('weir.facets.opened', []);
  const labels = useLabelNames(run, true);
  if (data === undefined) {
    // The query box says what is wrong with the query.
    if (refusalOf(error)) return null;
    return error ? <ProblemNotice error={error} onRetry={() => void refetch()} /> : <Skeleton />;
  }
  const groups = facetFields.map((facetField) => {
    const facet = data.find(({ field }) => field === facetField.name);
    const rows = facetRows(facet ?? { values: [] }, facetField.field, filters);
    return { ...facetField, rows, total: facet?.total ?? 0, other: facet?.other ?? 0 };
  });
  const telling = groups.filter(({ rows }) => isTelling(rows));
  const filtered = filters.map(({ field }) => field).filter(isLabelField);
  const shared = { run, filters, ...actions };
  return (
    <div className={styles.facets} data-is-old={isPlaceholderData}>
      {telling.map((group) => (
        <FacetGroup
          key={group.field}
          {...shared}
          {...group}
          nameOf={(value) => (group.field === 'streamId' ? streamNames.get(value) : undefined)}
          isOpen={!closed.includes(group.field)}
          onToggle={() => setClosed(toggled(closed, group.field))}
        />
      ))}
      {telling.length > 0 &&
        [...new Set([...filtered, ...labels])].map((label) => (
          <FacetGroup
            key={label}
            {...shared}
            field={label}
            name={label}
            nameOf={() => undefined}
            isOpen={opened.includes(label)}
            onToggle={() => setOpened(toggled(opened, label))}
          />
        ))}
      {telling.length === 0 && <p className={styles.none}>Shows values of the matching logs.</p>}
    </div>
  );
}

function toggled(fields: readonly string[], field: string): readonly string[] {
  return fields.includes(field) ? fields.filter((one) => one !== field) : [...fields, field];
}

function Skeleton() {
  return (
    <div className={styles.skeleton} role="status">
      <span className="only-read">Counting values…</span>
    </div>
  );
}
