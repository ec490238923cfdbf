/** End of the list: loading, complete, or the error. */
import { Button } from '../../parts/controls/button.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { formatCount, formatTime, type Zone } from '../../parts/text/time-text.ts';
import type { TimeBounds } from '../query.ts';
import type { FeedState } from '../feed/log-feed.ts';

export interface ListEndProps {
  readonly state: FeedState;
  readonly bounds: TimeBounds;
  readonly isOldestFirst: boolean;
  /** By a column: more logs are loaded on request. */
  readonly isSorted: boolean;
  readonly zone: Zone;
  readonly onMore: () => void;
  readonly onRetry: () => void;
  readonly onReload: () => void;
}

export function ListEnd(props: ListEndProps) {
  const { state, bounds, isOldestFirst, zone, onRetry, onReload } = props;
  const { phase, rows, connection, error } = state;
  if (phase === 'failed') return <ProblemNotice error={error} onRetry={onRetry} />;
  if (phase === 'complete') {
    return isOldestFirst ? (
      <p>No more logs until {formatTime(bounds.untilTime, zone)}.</p>
    ) : (
      <p>No more logs since {formatTime(bounds.sinceTime, zone)}.</p>
    );
  }
  if (phase === 'loading') return <p role="status">Loading more…</p>;
  const kept = formatCount(rows.length);
  if (phase === 'ready') {
    if (!props.isSorted) return undefined;
    return (
      <p>
        Sorted are the {kept} loaded logs. <Button onPress={props.onMore}>Load more</Button>
      </p>
    );
  }
  if (connection !== 'off') return <p>Live mode keeps the newest {kept} logs.</p>;
  return (
    <p>
      {kept} logs are loaded, the maximum. Narrow the search or the range, or export all logs.{' '}
      <Button onPress={onReload}>Start over</Button>
    </p>
  );
}
