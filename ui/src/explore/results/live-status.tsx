/** State of the live tail, with actions. */
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { formatCount, formatTimeOfDay, type Zone } from '../../parts/text/time-text.ts';
import type { FeedState } from '../feed/log-feed.ts';
import styles from './live-status.module.css';

export interface LiveStatusProps {
  readonly state: FeedState;
  readonly zone: Zone;
  readonly onPause: () => void;
  readonly onResume: () => void;
}

export function LiveStatus({ state, zone, onPause, onResume }: LiveStatusProps) {
  const { isPaused, connection } = state;
  return (
    <div className={styles.live}>
      <span className={styles.words} role="status">
        <span className={styles.dot} data-connection={isPaused ? 'paused' : connection} />
        {liveWords(state)}
      </span>
      <Button
        tone="bare"
        label={isPaused ? 'Resume' : 'Pause'}
        onPress={isPaused ? onResume : onPause}
      >
        <Icon name={isPaused ? 'play' : 'pause'} />
      </Button>
      {state.dropped && (
        <span className={styles.dropped}>
          {formatCount(state.dropped.count)} dropped, received from{' '}
          {formatTimeOfDay(state.dropped.fromTime, zone)} to{' '}
          {formatTimeOfDay(state.dropped.untilTime, zone)}: too many logs at once
        </span>
      )}
    </div>
  );
}

function liveWords({ connection, connectionError, isPaused }: FeedState): string {
  if (connection === 'connecting') return 'Connecting…';
  if (connection === 'interrupted') return 'Reconnecting…';
  if (connection === 'refused') return `Not live: ${(connectionError as Error).message}`;
  return isPaused ? 'Paused' : 'Live';
}

/** Button for logs that arrived while the reader had scrolled down. */
export function HeldLogs({ state, onShow }: { state: FeedState; onShow: () => void }) {
  const { heldCount, forgottenCount } = state;
  return (
    <div className={styles.held} role="status">
      {heldCount > 0 && (
        <button type="button" className={styles.pill} onClick={onShow}>
          ↑ {formatCount(heldCount)} new
          {forgottenCount > 0 && `, ${formatCount(forgottenCount)} older dropped`}
        </button>
      )}
    </div>
  );
}
