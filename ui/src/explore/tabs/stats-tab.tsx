/** A statistic of the matching logs, by groups: a table, and lines over time. */
import { useContext, useMemo, useState } from 'react';
import type { StatsRow } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import { formatValue } from '../../charts/value-format.ts';
import { useThemeColors } from '../../charts/theme-colors.ts';
import { TimeLines } from '../../charts/time-lines.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { Select } from '../../parts/controls/select.tsx';
import { Failure } from '../../parts/feedback/answer.tsx';
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { DataTable } from '../../parts/layout/data-table.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { LogText } from '../../parts/text/log-text.tsx';
import { GroupSelect } from '../facets/group-select.tsx';
import { fieldTitle } from '../log/log-fields.ts';
import type { StatsChoice } from '../query.ts';
import { toAbsolute } from '../range/range.ts';
import { ServiceColors } from '../service-color.ts';
import { groupName, steps, stepFor, toLines, valueOf } from './stats-lines.ts';
import { StatsForm } from './stats-form.tsx';
import { TabAnswer, type TabProps } from './tab-answer.tsx';
import { useStats } from './tab-reads.ts';
import styles from './tabs.module.css';

export function StatsTab({ query, run, streamNames, onChange }: TabProps) {
  const { stats } = query;
  const { timeZone } = usePreferences();
  const step = stepFor(stats.step, run.bounds);
  const [exact, setExact] = useState(false);
  const totals = useStats(run, { ...stats, exact });
  const overTime = useStats(run, { ...stats, exact }, step);
  const nameOf = (value: string) => (stats.by === 'streamId' ? streamNames.get(value) : undefined);
  const lines = useColoredLines(overTime.data?.rows ?? noRows, stats.by, nameOf);
  const change = (part: Partial<StatsChoice>) => onChange({ stats: { ...stats, ...part } });
  const tools = (
    <div className={styles.tools}>
      <StatsForm key={stats.stat} stat={stats.stat} onStat={(stat) => change({ stat })} />
      <label className={styles.control}>
        By
        <GroupSelect
          label="By"
          none="nothing"
          value={stats.by}
          onChange={(by) => change({ by })}
          query={query}
          run={run}
        />
      </label>
      <label className={styles.control}>
        Step
        <Select
          label="Step"
          value={stats.step}
          choices={[
            ['', 'fits the range'],
            ...new Set([...steps, ...(stats.step === '' ? [] : [stats.step])]),
          ]}
          onChange={(next) => change({ step: next })}
        />
      </label>
    </div>
  );
  return (
    <TabAnswer label="Statistics" answer={totals} tools={tools}>
      {({ rows }) =>
        rows.length === 0 ? (
          <EmptyState title="No logs match">Statistics are of the matching logs.</EmptyState>
        ) : (
          <>
            <Failure of={overTime} />
            <TimeLines
              lines={lines}
              fromMs={Date.parse(run.bounds.sinceTime)}
              untilMs={Date.parse(run.bounds.untilTime)}
              zone={timeZone}
              label={`${stats.stat} over time, in steps of ${step}: ${lines.length} lines`}
              onBrush={(fromMs, untilMs) => onChange({ range: toAbsolute(fromMs, untilMs) })}
            />
            <Sample answers={[totals.data, overTime.data]} onExact={() => setExact(true)} />
            <DataTable
              caption={`${stats.stat} of the range`}
              columns={[
                {
                  header: stats.by === '' ? 'Logs' : fieldTitle(stats.by),
                  cell: (row) => <Group name={groupName(row, nameOf)} lines={lines} />,
                },
                { header: stats.stat, cell: (row) => valueText(valueOf(row)), isAtEnd: true },
              ]}
              rows={rows}
              keyOf={(row) => JSON.stringify([row.other, row.by])}
            />
          </>
        )
      }
    </TabAnswer>
  );
}

const noRows: readonly StatsRow[] = [];

interface SampleProps {
  readonly answers: readonly ({ readonly sampled?: number } | undefined)[];
  readonly onExact: () => void;
}

/** Says that percentiles are estimates. */
function Sample({ answers, onExact }: SampleProps) {
  const sizes = answers.flatMap((answer) => answer?.sampled ?? []);
  if (sizes.length === 0) return null;
  return (
    <p className={styles.quiet} role="status">
      Estimated from a sample of {formatCount(Math.min(...sizes))} logs.{' '}
      <Button onPress={onExact}>Read all logs</Button>
    </p>
  );
}

type ColoredLine = ReturnType<typeof useColoredLines>[number];

function Group({ name, lines }: { name: string; lines: readonly ColoredLine[] }) {
  const line = lines.find((one) => one.name === name);
  return (
    <span className={styles.severity}>
      {line && <span className={styles.dot} style={{ background: line.color }} />}
      <LogText text={name} />
    </span>
  );
}

function useColoredLines(
  rows: readonly StatsRow[],
  by: string,
  nameOf: (value: string) => string | undefined,
) {
  const colorOf = useContext(ServiceColors);
  const resolve = useThemeColors();
  return useMemo(
    () =>
      toLines(rows, nameOf).map((line, at) => ({
        ...line,
        color: resolve(
          by === 'serviceName' && line.value !== undefined
            ? colorOf(line.value)
            : `--line-${(at % 10) + 1}`,
        ),
      })),
    // `nameOf` is a new function on each render.
    [rows, by, colorOf, resolve],
  );
}

function valueText(value: number | null): string {
  if (value === null) return '–';
  return Number.isInteger(value) ? formatCount(value) : formatValue(value);
}
