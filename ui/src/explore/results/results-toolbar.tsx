/** Actions on the whole list. */
import type { Log } from '../../api/models.ts';
import { changePreferences, usePreferences } from '../../app/preferences.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { countOf } from '../../parts/text/time-text.ts';
import type { ExploreQuery, TimeBounds } from '../query.ts';
import { ColumnsMenu } from './columns-menu.tsx';
import { ExportMenu } from './export-menu.tsx';
import { LiveStatus } from './live-status.tsx';
import type { FeedState } from '../feed/log-feed.ts';
import styles from './results-toolbar.module.css';

export interface ResultsToolbarProps {
  readonly query: ExploreQuery;
  readonly bounds: TimeBounds;
  readonly state: FeedState;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onPause: () => void;
  readonly onResume: () => void;
}

export function ResultsToolbar(props: ResultsToolbarProps) {
  const { query, bounds, state, onChange, onPause, onResume } = props;
  const { isLive, isWrapped, isOldestFirst } = query;
  const { timeZone } = usePreferences();
  return (
    <div className={styles.bar} role="toolbar" aria-label="List of logs">
      <Button
        isPressed={isLive}
        label={isLive ? 'Live: stop following (t)' : 'Live: follow new logs (t)'}
        onPress={() => onChange({ isLive: !isLive })}
      >
        <Icon name="tail" /> Live
      </Button>
      {isLive && <LiveStatus state={state} zone={timeZone} onPause={onPause} onResume={onResume} />}
      <span className={styles.count} role="status">
        {countWords(state.rows, state)}
        {query.sort && state.phase !== 'complete' && ', sorted among these'}
      </span>
      {state.scannedRows >= manyRows && !state.isStale && (
        <span className={styles.scanned} title={narrowHint}>
          scanned {(state.scannedRows / 1e6).toFixed(1)} million
        </span>
      )}
      <div className={styles.tools}>
        <Button
          tone="bare"
          label={`Times in ${timeZone === 'utc' ? 'UTC' : 'local time'}; switch`}
          onPress={() => changePreferences({ timeZone: timeZone === 'utc' ? 'local' : 'utc' })}
        >
          <Icon name="clock" /> <span className={styles.zone}>{zoneNames[timeZone]}</span>
        </Button>
        <Button
          tone="bare"
          label={`${isOldestFirst ? 'Oldest' : 'Newest'} first; switch`}
          onPress={() => onChange({ isOldestFirst: !isOldestFirst, sort: undefined })}
        >
          <Icon name={isOldestFirst ? 'oldest-first' : 'newest-first'} />
        </Button>
        <Button
          tone="bare"
          label="Wrap long lines (w)"
          isPressed={isWrapped}
          onPress={() => onChange({ isWrapped: !isWrapped })}
        >
          <Icon name="wrap" />
        </Button>
        <ColumnsMenu
          logs={state.rows}
          columns={query.columns}
          onChange={(columns) => onChange({ columns })}
        />
        <ExportMenu query={query} bounds={bounds} />
      </div>
    </div>
  );
}

/** Fewer are read in milliseconds. */
const manyRows = 1_000_000;
const narrowHint =
  'The service read this many logs for the last page. A narrower range, a filter by service, ' +
  'host or severity, or a rarer word is faster.';
const zoneNames = { utc: 'UTC', local: 'Local' } as const;

function countWords(rows: readonly Log[], { phase, isStale }: FeedState): string {
  if (isStale || (phase === 'loading' && rows.length === 0)) return 'Loading…';
  const count = countOf(rows.length, 'log');
  return phase === 'complete' ? count : `${count} loaded`;
}
