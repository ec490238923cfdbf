/** The matching logs: list, details, live mode, export. */
import { type Ref, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';
import { usePreferences } from '../../app/preferences.ts';
import { toVisibleText } from '../../parts/text/visible-text.ts';
import { fieldTitle } from '../log/log-fields.ts';
import type { ExploreQuery, TimeBounds } from '../query.ts';
import type { Filter } from '../terms.ts';
import type { Run } from '../use-run.ts';
import { ContextSheet } from '../log/context-sheet.tsx';
import { LinkedLog } from '../log/linked-log.tsx';
import { ListEnd } from './list-end.tsx';
import { HeldLogs } from './live-status.tsx';
import { LogDetail } from '../log/log-detail.tsx';
import { LogGrid, type LogGridHandle } from '../grid/log-grid.tsx';
import { NoRows } from './no-rows.tsx';
import { ResultsToolbar } from './results-toolbar.tsx';
import styles from './results.module.css';
import { sortLogs } from './sort-logs.ts';
import { useGridKeys } from '../grid/use-grid-keys.ts';
import type { LogActions } from '../log/log-actions.ts';
import { useLogActions } from '../log/use-log-actions.ts';
import type { FeedState, LogFeed } from '../feed/log-feed.ts';
import { useLogFeed } from '../feed/use-log-feed.ts';
import { type LogSelection, useLogSelection } from '../grid/use-log-selection.ts';
import { useOpenedLog, useResultsKeys } from './use-results.ts';

export interface ResultsProps {
  readonly query: ExploreQuery;
  readonly run: Run;
  /** Times of the counts: live mode moves them. */
  readonly counted: TimeBounds;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onFilter: (filter: Filter) => void;
}

export function Results({ query, run, counted, onChange, onFilter }: ResultsProps) {
  const { timeZone } = usePreferences();
  const { feed, state } = useLogFeed(query, run);
  const { sort } = query;
  const rows = useMemo(() => sortLogs(state.rows, sort), [state.rows, sort]);
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
          <ResultGrid
            ref={grid}
            rows={rows}
            feed={feed}
            state={state}
            selection={selection}
            actions={actions}
            query={query}
            bounds={run.bounds}
            onChange={onChange}
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

interface ResultGridProps extends Pick<ResultsProps, 'query' | 'onChange'> {
  readonly bounds: TimeBounds;
  /** In the order shown. */
  readonly rows: readonly Log[];
  readonly feed: LogFeed;
  readonly state: FeedState;
  readonly selection: LogSelection;
  readonly actions: LogActions;
  readonly ref: Ref<LogGridHandle>;
}

function ResultGrid(props: ResultGridProps) {
  const { rows, feed, state, selection, actions, query, bounds, onChange } = props;
  const { timeZone } = usePreferences();
  const { sort } = query;
  return (
    <LogGrid
      ref={props.ref}
      label={`Logs, ${orderWords(query)}`}
      logs={rows}
      columns={query.columns}
      zone={timeZone}
      isWrapped={query.isWrapped}
      isStale={state.isStale}
      selection={selection}
      renderDetail={(log) => <LogDetail log={log} zone={timeZone} actions={actions} />}
      // A sorted list grows on request only: rows would move while they are read.
      {...(sort === undefined && { onEndNear: feed.loadMore })}
      columnActions={{
        sort,
        onSort: (next) => onChange({ sort: next }),
        onColumns: (columns) => onChange({ columns }),
      }}
      onReadingChange={feed.setReading}
      end={
        <ListEnd
          state={state}
          bounds={bounds}
          isOldestFirst={query.isOldestFirst}
          isSorted={sort !== undefined}
          zone={timeZone}
          onMore={feed.loadMore}
          onRetry={feed.retry}
          onReload={feed.reload}
        />
      }
    />
  );
}

function orderWords({ sort, isOldestFirst }: ExploreQuery): string {
  if (sort === undefined) return isOldestFirst ? 'oldest first' : 'newest first';
  const title = toVisibleText(fieldTitle(sort.column));
  return `sorted by ${title}, ${sort.isDescending ? 'descending' : 'ascending'}`;
}
