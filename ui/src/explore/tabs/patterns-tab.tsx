/** Templates of messages with counts over time; a click keeps or hides the logs of one. */
import type { Patterns } from '../../api/models.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { DataTable } from '../../parts/layout/data-table.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { cutText } from '../../parts/text/visible-text.ts';
import { variableColumn } from '../log/extracted-fields.ts';
import { severityColor, severityFamily } from '../severity-family.ts';
import { withCondition } from '../terms.ts';
import { percent, sampleText, TabAnswer, type TabProps } from './tab-answer.tsx';
import { usePatterns } from './tab-reads.ts';
import styles from './tabs.module.css';

type Pattern = Patterns['patterns'][number];

const maxNameLength = 80;
const maxTemplateLength = 500;

export function PatternsTab({ query, run, onChange }: TabProps) {
  const answer = usePatterns(run);
  const only = (pattern: Pattern) =>
    onChange({ text: withCondition(query.text, pattern.query, false), tab: 'logs' });
  const asColumns = ({ query: condition, template, variables }: Pattern) => {
    const added = variables.map(({ name }) => variableColumn(name, template));
    const columns = [...new Set([...query.columns, ...added])];
    onChange({ text: withCondition(query.text, condition, false), tab: 'logs', columns });
  };
  const hide = (pattern: Pattern) =>
    onChange({ text: withCondition(query.text, pattern.query, true) });
  return (
    <TabAnswer label="Patterns" answer={answer}>
      {(data) =>
        data.patterns.length === 0 ? (
          <EmptyState title="No logs match">Patterns are of the matching logs.</EmptyState>
        ) : (
          <>
            <DataTable
              caption="Patterns, the most frequent first"
              columns={[
                {
                  header: 'Pattern',
                  cell: ({ template }) => (
                    <span className={styles.template}>
                      <LogText text={cutText(template, maxTemplateLength)} />
                    </span>
                  ),
                },
                { header: 'Severity', cell: ({ severities }) => <Severity of={severities} /> },
                { header: 'Over time', cell: ({ counts }) => <Sparkline counts={counts} /> },
                { header: 'Logs', cell: ({ count }) => formatCount(count), isAtEnd: true },
                {
                  header: 'Share',
                  cell: ({ share }) => percent(share),
                  isAtEnd: true,
                  isTight: true,
                },
                {
                  header: 'Filter',
                  isTight: true,
                  cell: (pattern) => {
                    const name = cutText(pattern.template, maxNameLength);
                    return (
                      <span className={styles.filters}>
                        <Button label={`Only this: ${name}`} onPress={() => only(pattern)}>
                          Only this
                        </Button>
                        <Button label={`Not this: ${name}`} onPress={() => hide(pattern)}>
                          Not this
                        </Button>
                        {pattern.variables.length > 0 && (
                          <Button
                            label={`Variables as columns: ${name}`}
                            onPress={() => asColumns(pattern)}
                          >
                            <Icon name="columns" />
                          </Button>
                        )}
                      </span>
                    );
                  },
                },
              ]}
              rows={data.patterns}
              keyOf={({ query: own }) => own}
            />
            <p className={styles.quiet}>
              Of {sampleText(data)}
              {data.other > 0 && `; ${formatCount(data.other)} are in rarer patterns`}
            </p>
          </>
        )
      }
    </TabAnswer>
  );
}

/** The most frequent one. */
function Severity({ of: severities }: { of: Pattern['severities'] }) {
  const [[word] = ['']] = Object.entries(severities).toSorted(([, a], [, b]) => b - a);
  if (word === '') return null;
  return (
    <span className={styles.severity}>
      <span
        className={styles.dot}
        style={{ background: severityColor(severityFamily(word)) }}
        aria-hidden="true"
      />
      <LogText text={word} />
    </span>
  );
}

const barWidth = 4;
const height = 20;

function Sparkline({ counts }: { counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const width = counts.length * barWidth;
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {counts.map((count, at) => {
        const tall = count === 0 ? 0 : Math.max(1, (count / most) * height);
        return (
          <rect
            // Index keys: bars never reorder.
            key={at}
            x={at * barWidth}
            y={height - tall}
            width={barWidth - 1}
            height={tall}
          />
        );
      })}
    </svg>
  );
}
