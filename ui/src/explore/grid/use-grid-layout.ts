/** What a list of logs does with its heights and its place while rows come and go. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import type { Log } from '../../api/models.ts';

/** px; as the style sheet has it, where fingers need more room than a pointer. */
export function useRowHeight(): number {
  const isCoarse = useSyncExternalStore(subscribeToPointer, () => coarsePointer.matches);
  return isCoarse ? 40 : 24;
}

const coarsePointer = matchMedia('(pointer: coarse)');

function subscribeToPointer(listener: () => void): () => void {
  coarsePointer.addEventListener('change', listener);
  return () => coarsePointer.removeEventListener('change', listener);
}

/** A row that is closed is measured no longer: says which have been, so that they shrink again. */
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
  /** Whatever comes in above moves nothing that is on the screen. */
  readonly isPlaceKept: boolean;
}

/** Rows further down than this from the top are being read. */
const topRows = 0.5;

/**
 * Tells when somebody scrolls away from the top and comes back. What was held meanwhile comes in
 * above, without moving what is on the screen.
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
      // The row that is on top now stays where it is when others come in above it.
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

/** So few rows push the others down without anybody losing the place. */
const maxUnanchored = 3;
