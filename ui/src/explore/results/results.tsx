/** The matching logs: list, details, live mode, export. */
import { useLayoutEffect, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import type { ExploreQuery, TimeBounds } from '../query.ts';
import type { Filter } from '../terms.ts';
import { ContextSheet } from '../log/context-sheet.tsx';
import { LinkedLog } from '../log/linked-log.tsx';
import { ListEnd } from './list-end.tsx';
import { HeldLogs } from './live-status.tsx';
import { LogDetail } from '../log/log-detail.tsx';
import { LogGrid, type LogGridHandle } from '../grid/log-grid.tsx';
import { NoRows } from './no-rows.tsx';
import { ResultsToolbar } from './results-toolbar.tsx';
import styles from './results.module.css';
import { useGridKeys } from '../grid/use-grid-keys.ts';
import { useLogActions } from '../log/use-log-actions.ts';
import { useLogFeed } from '../feed/use-log-feed.ts';
import { useLogSelection } from '../grid/use-log-selection.ts';
import { useOpenedLog, useResultsKeys } from './use-results.ts';

export interface ResultsProps {
  readonly query: ExploreQuery;
  /** Times of this run. */
  readonly bounds: TimeBounds;
  /** Times of the counts: live mode moves them. */
  readonly counted: TimeBounds;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onFilter: (filter: Filter) => void;
}

export function Results({ query, bounds, counted, onChange, onFilter }: ResultsProps) {
  const { timeZone } = usePreferences();
  const { feed, state } = useLogFeed(query, bounds);
  const { rows, isStale } = state;
  const grid = useRef<LogGridHandle>(null);
  const [contextLog, setContextLog] = useState<Log>();
  const opened = useOpenedLog(query, feed, onChange);
  const selection = useLogSelection(rows, opened.onToggle);
  const actions = useLogActions({ query, onChange, onFilter, onContext: setContextLog });
  const resume = () => {
    feed.resume();
    grid.current?.toTop();
  };
  useGridKeys('Logs', selection, {
    focus: () => grid.current?.focus(),
    onContext: () => setContextLog(rows[selection.activeIndex]),
  });
  useResultsKeys({ query, state, feed, onChange, onResume: resume });
  useLayoutEffect(() => grid.current?.toTop(), [feed]);

  return (
    <section className={styles.results} aria-label="Logs">
      <ResultsToolbar
        query={query}
        bounds={counted}
        state={state}
        onChange={onChange}
        onPause={feed.pause}
        onResume={resume}
      />
      {opened.linkedLogId !== undefined && (
        <LinkedLog
          logId={opened.linkedLogId}
          zone={timeZone}
          actions={actions}
          onClose={() => onChange({ openLogId: undefined })}
        />
      )}
      <div className={styles.list}>
        <HeldLogs state={state} onShow={resume} />
        {rows.length === 0 ? (
          <NoRows state={state} onRetry={feed.retry} />
        ) : (
          <LogGrid
            ref={grid}
            label={`Logs, ${query.isOldestFirst ? 'oldest' : 'newest'} first`}
            logs={rows}
            columns={query.columns}
            zone={timeZone}
            isWrapped={query.isWrapped}
            isStale={isStale}
            selection={selection}
            renderDetail={(log) => <LogDetail log={log} zone={timeZone} actions={actions} />}
            onEndNear={feed.loadMore}
            onReadingChange={feed.setReading}
            end={
              <ListEnd
                state={state}
                bounds={bounds}
                isOldestFirst={query.isOldestFirst}
                zone={timeZone}
                onRetry={feed.retry}
                onReload={feed.reload}
              />
            }
          />
        )}
      </div>
      {contextLog && (
        <ContextSheet
          log={contextLog}
          columns={query.columns}
          zone={timeZone}
          isWrapped={query.isWrapped}
          actions={actions}
          onClose={() => setContextLog(undefined)}
        />
      )}
    </section>
  );
}
