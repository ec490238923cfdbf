/** The values that tell the matching logs from a baseline; a click adds one to the query. */
import type { Comparison } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Select } from '../../parts/controls/select.tsx';
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { DataTable } from '../../parts/layout/data-table.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { formatTime } from '../../parts/text/time-text.ts';
import { cutText } from '../../parts/text/visible-text.ts';
import { facetFields } from '../facets/facet-fields.ts';
import { fieldTitle } from '../log/log-fields.ts';
import { type Baseline, baselines } from '../query.ts';
import { percent, sampleText, TabAnswer, type TabProps } from './tab-answer.tsx';
import { useComparison } from './tab-reads.ts';
import styles from './tabs.module.css';

type Difference = Comparison['differences'][number];

const titles: Readonly<Record<Baseline, string>> = {
  before: 'the time before',
  day: 'a day earlier',
  week: 'a week earlier',
  others: 'other logs of this time',
};
const maxNameLength = 80;

export function CompareTab({ query, run, streamNames, onChange, onFilter }: TabProps) {
  const { timeZone } = usePreferences();
  const hasQuery = query.text !== '';
  const baseline = query.baseline === 'others' && !hasQuery ? 'before' : query.baseline;
  const answer = useComparison(run, baseline);
  const tools = (
    <label className={styles.tools}>
      Compare with
      <Select
        label="Compare with"
        value={baseline}
        choices={baselines
          .filter((name) => name !== 'others' || hasQuery)
          .map((name) => [name, titles[name]] as const)}
        onChange={(next) => onChange({ baseline: next })}
      />
    </label>
  );
  const canBeOthers = hasQuery && baseline !== 'others';
  const onOthers = canBeOthers ? () => onChange({ baseline: 'others' }) : undefined;
  const nameOf = ({ field, value }: Difference) => {
    const shown = field === 'stream' ? (streamNames.get(value) ?? value) : value;
    return `${fieldTitle(filterField(field))}: ${cutText(shown, maxNameLength)}`;
  };
  const add = ({ field, value }: Difference, isExcluded: boolean) =>
    onFilter({ field: filterField(field), value, isExcluded });
  return (
    <TabAnswer label="Comparison" answer={answer} tools={tools}>
      {({ differences, selection, baseline: other }) => (
        <>
          {differences.length === 0 ? (
            <NoDifference hasBaseline={other.total > 0} onOthers={onOthers} />
          ) : (
            <DataTable
              caption="Values that differ, greatest effect first"
              columns={[
                { header: 'Value', cell: (one) => <LogText text={nameOf(one)} /> },
                { header: 'Here', cell: ({ share }) => <Share share={share} /> },
                {
                  header: 'Baseline',
                  cell: ({ baselineShare }) => <Share share={baselineShare} isBaseline />,
                },
                {
                  header: 'Filter',
                  isTight: true,
                  cell: (one) => (
                    <span className={styles.filters}>
                      <Button label={`Only this: ${nameOf(one)}`} onPress={() => add(one, false)}>
                        Only this
                      </Button>
                      <Button label={`Not this: ${nameOf(one)}`} onPress={() => add(one, true)}>
                        Not this
                      </Button>
                    </span>
                  ),
                },
              ]}
              rows={differences}
              keyOf={({ query: own }) => own}
            />
          )}
          <p className={styles.quiet}>
            {sampleText(selection)} compared with {sampleText(other)} from{' '}
            {formatTime(other.startTime, timeZone)} to {formatTime(other.endTime, timeZone)}
          </p>
        </>
      )}
    </TabAnswer>
  );
}

interface NoDifferenceProps {
  readonly hasBaseline: boolean;
  /** Absent if that is the baseline, or there are no others. */
  readonly onOthers: (() => void) | undefined;
}

function NoDifference({ hasBaseline, onOthers }: NoDifferenceProps) {
  return (
    <EmptyState
      title={hasBaseline ? 'No difference' : 'Nothing to compare with'}
      action={onOthers && <Button onPress={onOthers}>Compare with {titles.others}</Button>}
    >
      {hasBaseline
        ? 'No value of a field or label is more frequent here than there by more than chance.'
        : 'No log of the baseline matches the query.'}
    </EmptyState>
  );
}

/** @param name in answers of the API */
function filterField(name: string): string {
  return facetFields.find((one) => one.name === name)?.field ?? name;
}

function Share({ share, isBaseline }: { share: number; isBaseline?: boolean }) {
  return (
    <span className={styles.share}>
      <span className={styles.track} aria-hidden="true">
        <span
          className={isBaseline ? styles.baseline : styles.fill}
          style={{ inlineSize: percent(share).replace(' ', '') }}
        />
      </span>
      <span className={styles.number}>{percent(share)}</span>
    </span>
  );
}
