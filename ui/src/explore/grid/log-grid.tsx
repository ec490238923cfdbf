/** Virtual list of logs, with keyboard navigation and rows that expand in place. */
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import type { Log } from '../../api/models.ts';
import { formatTime, type Zone } from '../../parts/text/time-text.ts';
import type { FieldName } from '../log/log-fields.ts';
import { useStreamNames } from '../reads.ts';
import { useColumnWidths } from './column-widths.ts';
import { type ColumnActions, GridHead } from './grid-head.tsx';
import { LogRow } from './log-row.tsx';
import { useClosedHeights, useReadingPlace, useRowHeight } from './use-grid-layout.ts';
import styles from './log-grid.module.css';
import type { LogSelection } from './use-log-selection.ts';

export interface LogGridHandle {
  readonly focus: () => void;
  readonly toTop: () => void;
  /** Scrolls this row to the middle. */
  readonly toLog: (logId: string) => void;
}

export interface LogGridProps {
  readonly logs: readonly Log[];
  /** Accessible name. */
  readonly label: string;
  readonly columns: readonly FieldName[];
  /** Absent if the columns are fixed. */
  readonly columnActions?: ColumnActions;
  readonly zone: Zone;
  readonly isWrapped: boolean;
  readonly isStale?: boolean;
  readonly markedLogId?: string;
  readonly selection: LogSelection;
  /** Content of an expanded row. */
  readonly renderDetail: (log: Log) => ReactNode;
  /** Content after the last row. */
  readonly end?: ReactNode;
  /** Called near the end of the list. */
  readonly onEndNear?: () => void;
  /** Rows inserted above do not move the viewport; default: they push it down. */
  readonly isPlaceKept?: boolean;
  /** Called when the reader scrolls away from the top or back. */
  readonly onReadingChange?: (isReading: boolean) => void;
  readonly ref?: Ref<LogGridHandle>;
}

const headHeight = 28;
const overscanRows = 8;
/** Fewer remaining rows than this trigger loading. */
const endNearRows = 150;

export function LogGrid(props: LogGridProps) {
  const { logs, columns, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const widths = useColumnWidths(columns);
  const rowHeight = useRowHeight();
  const virtualizer = useLogVirtualizer(props, { scroller, rowHeight });
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  const { onEndNear } = props;
  const streamNames = useStreamNames();
  useEffect(() => {
    if (lastShown >= logs.length - endNearRows) onEndNear?.();
  }, [lastShown, logs.length, onEndNear]);

  const active = logs[selection.activeIndex];
  const isOpen = active !== undefined && selection.openIds.has(active.logId);
  useLayoutEffect(() => {
    const { start } = virtualizer.measurementsCache[selection.activeIndex] ?? {};
    if (start !== undefined) showRow(scroller.current!, start, { rowHeight, isOpen });
  }, [selection.moves]);
  useImperativeHandle(props.ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    // Newer browsers return a promise from `scrollTo`, which an effect would treat as cleanup.
    toTop: () => {
      scroller.current?.scrollTo({ top: 0 });
    },
    toLog: (logId) => {
      const index = logs.findIndex((log) => log.logId === logId);
      if (index >= 0) virtualizer.scrollToIndex(index, { align: 'center' });
    },
  }));

  const idOf = (log: Log) => `${gridId}${log.logId}`;
  const isActiveShown = items.some(({ index }) => index === selection.activeIndex);
  return (
    <div
      ref={scroller}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={logs.length + 1}
      aria-colcount={columns.length + 3}
      aria-busy={props.isStale}
      aria-activedescendant={active && isActiveShown ? idOf(active) : undefined}
      className={styles.grid}
      data-stale={props.isStale}
      style={widths.style}
      onClick={(event) => toggleClicked(event, logs, selection)}
      onKeyDown={(event) => moveByKey(event, selection)}
    >
      <GridHead
        columns={columns}
        day={dayOf(logs[virtualizer.range?.startIndex ?? 0], props.zone)}
        widths={widths}
        actions={props.columnActions}
      />
      <div
        role="presentation"
        className={styles.rows}
        style={{ height: virtualizer.getTotalSize() }}
      >
        <div
          role="presentation"
          className={styles.window}
          style={{ transform: `translateY(${(items[0]?.start ?? headHeight) - headHeight}px)` }}
        >
          {items.map((item) => (
            <GridItem
              key={item.key}
              index={item.index}
              grid={props}
              streamNames={streamNames}
              idOf={idOf}
              measure={virtualizer.measureElement}
            />
          ))}
        </div>
      </div>
      {props.end !== undefined && <div className={styles.end}>{props.end}</div>}
    </div>
  );
}

interface ShownRow {
  readonly rowHeight: number;
  readonly isOpen: boolean;
}

/**
 * Scrolls as little as shows the row, of an open one a part of its detail too. The virtualizer
 * would go on to show the end of a row that opens meanwhile.
 * @param start px from the top of the list
 */
function showRow(scroller: HTMLElement, start: number, { rowHeight, isOpen }: ShownRow): void {
  const room = scroller.clientHeight - headHeight;
  const top = start - headHeight;
  const bottom = top - (isOpen ? room / 3 : room - rowHeight);
  scroller.scrollTop = Math.min(top, Math.max(bottom, scroller.scrollTop));
}

interface Scrolled {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly rowHeight: number;
}

/** Row height is constant, except for expanded or wrapped rows, which are measured. */
function useLogVirtualizer(
  { logs, isWrapped, selection, onReadingChange, isPlaceKept = false }: LogGridProps,
  { scroller, rowHeight }: Scrolled,
) {
  const virtualizer = useVirtualizer({
    count: logs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: useCallback((index: number) => logs[index]?.logId ?? index, [logs]),
    overscan: overscanRows,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
    useFlushSync: false,
    isScrollingResetDelay: 300,
  });
  // A changed width is seen by the observer of each measured row; a reset would scroll them away.
  useLayoutEffect(() => {
    virtualizer.measure();
    // Recomputes estimates first: the virtualizer ignores a measurement equal to its estimate.
    virtualizer.getTotalSize();
    // Rows whose height did not change trigger no resize event.
    for (const element of virtualizer.elementsCache.values()) {
      virtualizer.measureElement(element);
    }
  }, [virtualizer, isWrapped, rowHeight]);
  useClosedHeights(logs, selection.openIds, (index) => {
    if (!isWrapped) virtualizer.resizeItem(index, rowHeight);
  });
  useReadingPlace(scroller, { logs, rowHeight, onReadingChange, isPlaceKept });
  return virtualizer;
}

interface GridItemProps {
  readonly index: number;
  readonly grid: LogGridProps;
  readonly idOf: (log: Log) => string;
  readonly measure: (element: Element | null) => void;
  readonly streamNames: ReadonlyMap<string, string>;
}

/** A bare row when its height is known, else a measured frame. */
function GridItem({ index, grid, streamNames, idOf, measure }: GridItemProps) {
  const { columns, isWrapped, selection } = grid;
  const log = grid.logs[index];
  if (log === undefined) return undefined;
  const isExpanded = selection.openIds.has(log.logId);
  const row = (
    <LogRow
      log={log}
      index={index}
      id={idOf(log)}
      columns={columns}
      isDayStart={index === 0 || dayOf(log, grid.zone) !== dayOf(grid.logs[index - 1], grid.zone)}
      streamNames={streamNames}
      zone={grid.zone}
      isWrapped={isWrapped}
      isActive={index === selection.activeIndex}
      isExpanded={isExpanded}
      isMarked={log.logId === grid.markedLogId}
    />
  );
  if (!isExpanded && !isWrapped) return row;
  return (
    <div
      ref={measure}
      data-index={index}
      role="presentation"
      className={isExpanded ? styles.item : undefined}
    >
      {row}
      {isExpanded && (
        <div role="row" aria-rowindex={index + 2} data-detail="">
          <div role="gridcell" aria-colspan={columns.length + 3}>
            {grid.renderDetail(log)}
          </div>
        </div>
      )}
    </div>
  );
}

/** `2026-04-01` */
function dayOf(log: Log | undefined, zone: Zone): string {
  return log === undefined ? '' : formatTime(log.timestamp, zone).slice(0, 10);
}

function toggleClicked(event: MouseEvent, logs: readonly Log[], selection: LogSelection): void {
  const target = event.target as HTMLElement;
  // React also passes on events of menus, which are elsewhere in the document.
  if (!event.currentTarget.contains(target) || target.closest('[data-detail], a')) return;
  // Keeps the row open while the user selects text.
  if (getSelection()?.type === 'Range') return;
  const index = target.closest<HTMLElement>('[role=row][data-index]')?.dataset['index'];
  const log = logs[Number(index)];
  if (index !== undefined && log !== undefined) selection.toggle(log);
}

function moveByKey(event: KeyboardEvent, selection: LogSelection): void {
  const isOwn = event.target === event.currentTarget;
  if (!isOwn || event.ctrlKey || event.metaKey || event.altKey) return;
  const move = keys[event.key];
  if (move === undefined) return;
  event.preventDefault();
  move(selection);
}

const pageRows = 20;
const keys: Readonly<Record<string, (selection: LogSelection) => void>> = {
  ArrowDown: (selection) => selection.move(1),
  ArrowUp: (selection) => selection.move(-1),
  PageDown: (selection) => selection.move(pageRows),
  PageUp: (selection) => selection.move(-pageRows),
  Home: (selection) => selection.move(-Infinity),
  End: (selection) => selection.move(Infinity),
  Enter: (selection) => selection.toggleActive(),
};
