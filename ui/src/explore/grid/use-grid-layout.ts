/** Row heights and scroll position of the list while rows change. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import type { Log } from '../../api/models.ts';
import { useMedia } from '../../parts/layout/use-media.ts';

/** px; from the style sheet, larger for touch. */
export function useRowHeight(): number {
  return useMedia('(pointer: coarse)') ? 40 : 24;
}

/** Collapsed rows are no longer measured: reports them, so that their height is reset. */
export function useClosedHeights(
  logs: readonly Log[],
  openIds: ReadonlySet<string>,
  onClosed: (index: number) => void,
): void {
  const before = useRef(openIds);
  useLayoutEffect(() => {
    for (const openId of before.current) {
      if (openIds.has(openId)) continue;
      const index = logs.findIndex(({ logId }) => logId === openId);
      if (index >= 0) onClosed(index);
    }
    before.current = openIds;
  }, [openIds]);
}

export interface ReadingPlace {
  readonly logs: readonly Log[];
  readonly rowHeight: number;
  readonly onReadingChange: ((isReading: boolean) => void) | undefined;
  /** Rows inserted above do not move the viewport. */
  readonly isPlaceKept: boolean;
}

/** px from the top beyond which the reader counts as scrolled down. */
const topRows = 0.5;

/**
 * Reports when the reader scrolls away from the top or back. Released rows are inserted without
 * moving the viewport.
 */
export function useReadingPlace(
  scroller: RefObject<HTMLElement | null>,
  { logs, rowHeight, onReadingChange, isPlaceKept }: ReadingPlace,
): void {
  const topId = useRef<string | undefined>(undefined);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || onReadingChange === undefined) return;
    let isReading = false;
    const look = () => {
      const now = element.scrollTop > rowHeight * topRows;
      if (now === isReading) return;
      isReading = now;
      // Anchors the current top row.
      topId.current = isReading ? undefined : logsNow.current[0]?.logId;
      onReadingChange(isReading);
      requestAnimationFrame(() => {
        topId.current = undefined;
      });
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroller, rowHeight, onReadingChange]);

  const logsNow = useRef(logs);
  useLayoutEffect(() => {
    const kept = isPlaceKept ? logsNow.current[0]?.logId : topId.current;
    topId.current = undefined;
    logsNow.current = logs;
    if (kept === undefined || scroller.current === null) return;
    const index = logs.findIndex(({ logId }) => logId === kept);
    if (index > (isPlaceKept ? 0 : maxUnanchored)) scroller.current.scrollTop += index * rowHeight;
  }, [logs]);
}

/** So few new rows may push the others down. */
const maxUnanchored = 3;
