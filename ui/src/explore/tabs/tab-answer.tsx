/** What tabs have in common: their properties, and the answer of a read or why there is none. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { countOf, formatCount } from '../../parts/text/time-text.ts';
import type { ExploreQuery } from '../query.ts';
import { refusalOf } from '../reads.ts';
import type { Filter } from '../terms.ts';
import type { Run } from '../use-run.ts';
import styles from './tabs.module.css';

export interface TabProps {
  readonly query: ExploreQuery;
  readonly run: Run;
  readonly streamNames: ReadonlyMap<string, string>;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onFilter: (filter: Filter) => void;
}

export interface TabAnswerProps<Answer> {
  /** Accessible name. */
  readonly label: string;
  readonly answer: UseQueryResult<Answer>;
  readonly tools?: ReactNode;
  readonly children: (data: Answer) => ReactNode;
}

export function TabAnswer<Answer>({ label, answer, tools, children }: TabAnswerProps<Answer>) {
  const { data, error, isPlaceholderData, refetch } = answer;
  return (
    <section className={styles.tab} aria-label={label}>
      {tools}
      {data === undefined && error && refusalOf(error) && (
        <EmptyState title="The query cannot be read">The box above says why.</EmptyState>
      )}
      {error && !refusalOf(error) && <ProblemNotice error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && (
        <p role="status" className={styles.quiet}>
          Reading logs…
        </p>
      )}
      {data !== undefined && <div data-is-old={isPlaceholderData}>{children(data)}</div>}
    </section>
  );
}

/** How many logs an answer is of. */
export function sampleText({ sampled, total }: { sampled: number; total: number }): string {
  if (sampled === total) return countOf(total, 'log');
  return `a sample of ${formatCount(sampled)} of ${countOf(total, 'log')}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
