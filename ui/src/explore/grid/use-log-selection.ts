/** The active row and the expanded rows, by log id, so that they survive new rows. */
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Log } from '../../api/models.ts';

export interface LogSelection {
  /** -1 = none. */
  readonly activeIndex: number;
  /** Changes when a key moves or opens it, which scrolls the row into view. */
  readonly moves: number;
  readonly openIds: ReadonlySet<string>;
  /** Moves by this many rows, clamped to the list. */
  readonly move: (rows: number) => void;
  readonly toggle: (log: Log) => void;
  readonly toggleActive: () => void;
}

/** @param onToggle called with the expanded log, or undefined when one is collapsed */
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
        if (log === undefined) return;
        toggle(log);
        setActive((active) => ({ ...active, moves: active.moves + 1 }));
      },
    }),
    [logs, activeIndex, moves, openIds, toggle],
  );
}

/** Searches near the previous index first: a few rows are inserted at a time. */
function useIndexOf(logs: readonly Log[], logId: string): number {
  const last = useRef(-1);
  if (logId === '') return -1;
  if (logs[last.current]?.logId !== logId) {
    last.current = logs.findIndex((log) => log.logId === logId);
  }
  return last.current;
}
