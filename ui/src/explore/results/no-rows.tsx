/** Shown instead of rows: a skeleton while loading, or why there are none. */
import { EmptyState } from '../../parts/feedback/empty-state.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import type { FeedState } from '../feed/log-feed.ts';
import { refusalOf } from '../reads.ts';
import styles from './no-rows.module.css';

export function NoRows({ state, onRetry }: { state: FeedState; onRetry: () => void }) {
  const { phase, connection, error } = state;
  if (phase === 'failed' && refusalOf(error)) {
    return <EmptyState title="The query cannot be read">The box above says why.</EmptyState>;
  }
  if (phase === 'failed') {
    return (
      <div className={styles.problem}>
        <ProblemNotice error={error} onRetry={onRetry} />
      </div>
    );
  }
  if (phase === 'loading') return <Skeleton />;
  return connection === 'off' ? (
    <EmptyState title="No logs match">
      No log in this range matches: widen the range, or remove a filter or a word.
    </EmptyState>
  ) : (
    <EmptyState title="No logs yet">New matching logs appear here.</EmptyState>
  );
}

/** Delayed, so that fast responses do not flicker. */
function Skeleton() {
  return (
    <div className={styles.skeleton} role="status">
      <span className="only-read">Loading logs…</span>
      {Array.from({ length: 24 }, (_, index) => (
        <span key={index} aria-hidden="true" className={styles.line} />
      ))}
    </div>
  );
}
