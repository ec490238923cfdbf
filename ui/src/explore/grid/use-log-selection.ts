/**
 * Which row of a list is the active one and which are open: by id, so that it stays when rows come.
 */
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';

export interface LogSelection {
  /** -1 = none. */
  readonly activeIndex: number;
  /** Changes when a key has moved it, so that the row is brought into view. */
  readonly moves: number;
  readonly openIds: ReadonlySet<string>;
  /** By so many rows, up to the first or the last. */
  readonly move: (rows: number) => void;
  readonly toggle: (log: Log) => void;
  readonly toggleActive: () => void;
  readonly open: (logId: string) => void;
}

/** @param onToggle told which log was opened, or that one was closed */
export function useLogSelection(
  logs: readonly Log[],
  onToggle?: (openedLogId: string | undefined) => void,
): LogSelection {
  const [{ activeId, moves }, setActive] = useState({ activeId: '', moves: 0 });
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(() => new Set());
  const activeIndex = useIndexOf(logs, activeId);

  const toggle = useCallback(
    ({ logId }: Log) => {
      const opens = !openIds.has(logId);
      const next = new Set(openIds);
      if (opens) next.add(logId);
      else next.delete(logId);
      setOpenIds(next);
      setActive((active) => ({ ...active, activeId: logId }));
      onToggle?.(opens ? logId : undefined);
    },
    [openIds, onToggle],
  );
  return useMemo(
    () => ({
      activeIndex,
      moves,
      openIds,
      toggle,
      move(rows) {
        const index = Math.max(0, Math.min(logs.length - 1, activeIndex + rows));
        const log = logs[activeIndex === -1 && rows === -1 ? 0 : index];
        if (log !== undefined) setActive({ activeId: log.logId, moves: moves + 1 });
      },
      toggleActive() {
        const log = logs[activeIndex];
        if (log !== undefined) toggle(log);
      },
      open(logId) {
        setOpenIds((ids) => new Set([...ids, logId]));
        setActive((active) => ({ ...active, activeId: logId }));
      },
    }),
    [logs, activeIndex, moves, openIds, toggle],
  );
}

/** Looks first where it was, and then near: rows come on top a few at a time. */
function useIndexOf(logs: readonly Log[], logId: string): number {
  const last = useRef(-1);
  if (logId === '') return -1;
  if (logs[last.current]?.logId !== logId) {
    last.current = logs.findIndex((log) => log.logId === logId);
  }
  return last.current;
}
