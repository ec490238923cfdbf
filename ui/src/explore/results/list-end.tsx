/** End of the list: loading, complete, or the error. */
import { Button } from '../../parts/controls/button.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { formatCount, formatTime, type Zone } from '../../parts/text/time-text.ts';
import type { FeedState } from '../feed/log-feed.ts';

export interface ListEndProps {
  readonly state: FeedState;
  readonly sinceTime: string;
  readonly zone: Zone;
  readonly onRetry: () => void;
  readonly onReload: () => void;
}

export function ListEnd({ state, sinceTime, zone, onRetry, onReload }: ListEndProps) {
  const { phase, rows, connection, error } = state;
  if (phase === 'failed') return <ProblemNotice error={error} onRetry={onRetry} />;
  if (phase === 'complete') return <p>No more logs since {formatTime(sinceTime, zone)}.</p>;
  if (phase === 'loading') return <p role="status">Loading more…</p>;
  if (phase === 'ready') return undefined;
  const kept = formatCount(rows.length);
  if (connection !== 'off') return <p>Live mode keeps the newest {kept} logs.</p>;
  return (
    <p>
      {kept} logs are loaded, the maximum. Narrow the search or the range, or export all logs.{' '}
      <Button onPress={onReload}>Start over</Button>
    </p>
  );
}
