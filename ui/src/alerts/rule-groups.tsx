/** Rule groups with the state of their rules. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { isPlainMetricName } from '../../../src/promql/labels.ts';
import { formatDuration } from '../../../src/promql/parser/numbers.ts';
import { useApp } from '../app/context.ts';
import { EndingDialog } from '../manage/ending-dialog.tsx';
import { Button } from '../parts/controls/button.tsx';
import { Badge, type BadgeTone } from '../parts/feedback/badge.tsx';
import { EmptyState } from '../parts/feedback/empty-state.tsx';
import { Answer } from '../parts/feedback/answer.tsx';
import { type Column, DataTable } from '../parts/layout/data-table.tsx';
import { Card } from '../parts/layout/page.tsx';
import { Ago } from '../parts/text/ago.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { type Rule, type RuleGroup, useCanEdit, useRules, useStreamNames } from './alert-reads.ts';
import styles from './alerts-page.module.css';
import { deleteRuleGroup, readRuleGroup } from './rule-file.ts';

export function RuleGroups() {
  const rules = useRules();
  const streamNames = useStreamNames();
  const [ending, setEnding] = useState<RuleGroup>();
  return (
    <Answer of={rules} what="Loading rules">
      {(groups) =>
        groups.length === 0 ? (
          <EmptyState title="No rules yet">
            A rule is a query on metrics or logs that is evaluated on time: it raises alerts, or
            records a metric.
          </EmptyState>
        ) : (
          <div className={styles.list}>
            {groups.map((group) => (
              <Group
                key={`${group.file} ${group.name}`}
                group={group}
                streamName={streamNames.size > 1 ? streamNames.get(group.file) : undefined}
                onDelete={() => setEnding(group)}
              />
            ))}
            {ending && <DeleteGroup group={ending} onClose={() => setEnding(undefined)} />}
          </div>
        )
      }
    </Answer>
  );
}

interface GroupProps {
  readonly group: RuleGroup;
  /** Absent with a single stream. */
  readonly streamName: string | undefined;
  readonly onDelete: () => void;
}

/** Prometheus' time of what never happened. */
const never = '0001-01-01T00:00:00Z';

function Group({ group, streamName, onDelete }: GroupProps) {
  const canEdit = useCanEdit();
  const { name, file, interval, lastEvaluation, late } = group;
  const target = new URLSearchParams({ streamId: file, group: name });
  return (
    <Card>
      <div className={styles.tools}>
        <h2>
          <LogText text={name} />
        </h2>
        <span className={styles.quiet}>
          {streamName !== undefined && `stream ${streamName}, `}
          every {formatDuration(interval)}, evaluated{' '}
          <Ago at={lastEvaluation === never ? null : lastEvaluation} never="not yet" />
          {late && (
            <>
              , {late.rows} rows up to {formatDuration(Math.ceil(late.seconds))} late, the last{' '}
              <Ago at={late.time} />
            </>
          )}
        </span>
        {canEdit && (
          <>
            <Link href={`/alerts/edit?${target.toString()}`} aria-label={`Edit ${name}`}>
              Edit
            </Link>
            <Button label={`Delete ${name}`} tone="bare" onPress={onDelete}>
              Delete
            </Button>
          </>
        )}
      </div>
      <DataTable
        caption={`Rules of ${name}`}
        columns={columnsOf(streamName === undefined ? undefined : file)}
        rows={group.rules}
        keyOf={(rule) => JSON.stringify([rule.type, rule.name, rule.labels, rule.query])}
      />
    </Card>
  );
}

const columns: readonly Column<Rule>[] = [
  {
    header: 'Rule',
    cell: ({ name, type }) => (
      <div className={styles.title}>
        <LogText text={name} />
        {type === 'recording' && <div className={styles.quiet}>records this metric</div>}
      </div>
    ),
  },
  {
    header: 'State',
    cell: (rule) => <Badge tone={toneOf(rule)}>{stateOf(rule)}</Badge>,
    isTight: true,
  },
  {
    header: 'Query',
    cell: ({ query, lastError }) => (
      <>
        <code className={styles.expr}>
          <LogText text={query} />
        </code>
        {lastError !== undefined && (
          <p className={styles.fault}>
            <LogText text={lastError} />
          </p>
        )}
      </>
    ),
  },
  {
    header: 'For',
    cell: ({ duration = 0 }) => (duration === 0 ? '–' : formatDuration(duration)),
    isTight: true,
  },
];

/** @param streamId which the rules read; undefined with a single stream */
function columnsOf(streamId: string | undefined): readonly Column<Rule>[] {
  return [
    ...columns,
    { header: 'See', cell: (rule) => <Links rule={rule} streamId={streamId} />, isTight: true },
  ];
}

interface LinksProps {
  readonly rule: Rule;
  readonly streamId: string | undefined;
}

function Links({ rule: { name, type, query, logsQuery }, streamId }: LinksProps) {
  const logs = { query: logsQuery ?? '', ...(streamId !== undefined && { streamId }) };
  return (
    <span className={styles.links}>
      {type === 'recording' ? (
        <Link href={hrefOf('/explore/metrics', { q: selectorOf(name) })}>Chart</Link>
      ) : (
        <Link href={hrefOf('/alerts', { tab: 'history', alert: name })}>History</Link>
      )}
      {logsQuery === undefined ? (
        <Link href={hrefOf('/explore/metrics', { q: query })}>Metrics</Link>
      ) : (
        <Link href={hrefOf('/explore/logs', logs)}>Logs</Link>
      )}
    </span>
  );
}

function hrefOf(path: string, parameters: Record<string, string>): string {
  return `${path}?${new URLSearchParams(parameters).toString()}`;
}

function stateOf({ health, state, type, alerts = [] }: Rule): string {
  if (health === 'err') return 'failing';
  if (health === 'unknown') return 'not evaluated';
  if (type === 'recording') return 'recording';
  const count = alerts.filter((alert) => alert.state === state).length;
  return state === 'firing' || state === 'pending' ? `${state}: ${count}` : 'inactive';
}

function toneOf({ health, state, type }: Rule): BadgeTone {
  if (health === 'err' || state === 'firing') return 'danger';
  if (state === 'pending') return 'warning';
  return health === 'ok' && type === 'alerting' ? 'success' : 'quiet';
}

function DeleteGroup({ group, onClose }: { group: RuleGroup; onClose: () => void }) {
  const { api } = useApp();
  const { name, file: streamId } = group;
  const opened = useQuery({
    queryKey: ['deleted rules', streamId, name],
    // What is deleted is what was there when the dialog opened.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async () => (await readRuleGroup(api, streamId, name)) ?? null,
  });
  const end = async () => {
    const read = opened.isSuccess ? opened : await opened.refetch({ throwOnError: true });
    await deleteRuleGroup(api, { streamId, name }, read.data?.version);
  };
  return (
    <EndingDialog
      name={name}
      asked="Delete the rules of"
      done="Deleted the rules of"
      action="Delete rules"
      end={end}
      onClose={onClose}
    >
      <p>
        Its rules are evaluated no longer and its alerts end. What they recorded stays for the
        retention of the stream.
      </p>
    </EndingDialog>
  );
}

function selectorOf(metric: string): string {
  return isPlainMetricName(metric) ? metric : `{${JSON.stringify(metric)}}`;
}
