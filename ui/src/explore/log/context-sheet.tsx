/** The neighbours of a log in its stream. */
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Loading } from '../../parts/feedback/loading.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import type { Zone } from '../../parts/text/time-text.ts';
import { cutText, toVisibleText } from '../../parts/text/visible-text.ts';
import { type Same, useContextLogs } from '../feed/context-feed.ts';
import styles from './context-sheet.module.css';
import type { LogActions } from './log-actions.ts';
import { LogDetail } from './log-detail.tsx';
import type { FieldName } from './log-fields.ts';
import { LogGrid, type LogGridHandle } from '../grid/log-grid.tsx';
import { useGridKeys } from '../grid/use-grid-keys.ts';
import { useLogSelection } from '../grid/use-log-selection.ts';

export interface ContextSheetProps {
  readonly log: Log;
  readonly columns: readonly FieldName[];
  readonly zone: Zone;
  readonly isWrapped: boolean;
  readonly actions: LogActions;
  readonly onClose: () => void;
}

export function ContextSheet(props: ContextSheetProps) {
  return (
    <Sheet title="In context" width="wide" onClose={props.onClose}>
      <ContextView {...props} />
    </Sheet>
  );
}

function ContextView({ log, columns, zone, isWrapped, actions }: ContextSheetProps) {
  const [same, setSame] = useState<readonly Same[]>([]);
  const context = useContextLogs(log, same);
  const { logs, isLoading, error } = context;
  const selection = useLogSelection(logs);
  const grid = useRef<LogGridHandle>(null);
  useGridKeys('In context', selection, { focus: () => grid.current?.focus() });
  const isHere = logs.length > 0;
  const isWaiting = isLoading || context.same === undefined;
  useLayoutEffect(() => {
    if (context.same === undefined) return;
    grid.current?.toLog(log.logId);
    grid.current?.focus();
  }, [context.same, log]);

  const ownActions = useMemo(() => ({ linkTo: actions.linkTo }), [actions]);
  const toggle = (one: Same) =>
    setSame(same.includes(one) ? same.filter((other) => other !== one) : [...same, one]);
  return (
    <>
      <div className={styles.bar}>
        <SameButton name="host" value={log.host} same={same} onToggle={toggle} />
        <SameButton name="service" value={log.serviceName} same={same} onToggle={toggle} />
        <Button onPress={() => grid.current?.toLog(log.logId)}>Back to this log</Button>
      </div>
      {error && <ProblemNotice error={error} onRetry={context.retry} />}
      {!isHere && isLoading && <Loading what="Loading the context" />}
      {isHere && (
        <div className={styles.list}>
          <Edge
            words={context.hasNewer ? 'Load newer' : 'No newer logs: check again'}
            isDisabled={isWaiting}
            onPress={context.loadNewer}
          />
          <div className={styles.grid}>
            <LogGrid
              ref={grid}
              label="Logs around this one, newest first"
              logs={logs}
              columns={columns}
              zone={zone}
              isWrapped={isWrapped}
              isStale={isLoading}
              isPlaceKept
              markedLogId={log.logId}
              selection={selection}
              renderDetail={(one) => <LogDetail log={one} zone={zone} actions={ownActions} />}
            />
          </div>
          {context.hasOlder && (
            <Edge words="Load older" isDisabled={isWaiting} onPress={context.loadOlder} />
          )}
          {!context.hasOlder && <p className={styles.end}>No older logs in this stream.</p>}
        </div>
      )}
    </>
  );
}

interface SameButtonProps {
  readonly name: Same;
  readonly value: string;
  readonly same: readonly Same[];
  readonly onToggle: (name: Same) => void;
}

function SameButton({ name, value, same, onToggle }: SameButtonProps) {
  if (value === '') return undefined;
  return (
    <Button isPressed={same.includes(name)} onPress={() => onToggle(name)}>
      Same {name}: {toVisibleText(cutText(value, 40))}
    </Button>
  );
}

interface EdgeProps {
  readonly words: string;
  readonly isDisabled: boolean;
  readonly onPress: () => void;
}

function Edge({ words, isDisabled, onPress }: EdgeProps) {
  return (
    <div className={styles.edge}>
      <Button tone="bare" isDisabled={isDisabled} onPress={onPress}>
        {words}
      </Button>
    </div>
  );
}
