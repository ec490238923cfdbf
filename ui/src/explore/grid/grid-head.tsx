/** Titles of the columns: sorted by a click, moved by dragging, resized at their right edge. */
import { type DragEvent, useRef, useState } from 'react';
import { Icon } from '../../parts/controls/icon.tsx';
import { Menu, type MenuItem } from '../../parts/controls/menu.tsx';
import { toVisibleText } from '../../parts/text/visible-text.ts';
import { type FieldName, fieldTitle } from '../log/log-fields.ts';
import type { ColumnSort } from '../query.ts';
import type { ColumnWidths } from './column-widths.ts';
import styles from './grid-head.module.css';

export interface ColumnActions {
  /** Absent = by time. */
  readonly sort: ColumnSort | undefined;
  readonly onSort: (sort: ColumnSort | undefined) => void;
  readonly onColumns: (columns: readonly FieldName[]) => void;
}

export interface GridHeadProps {
  readonly columns: readonly FieldName[];
  /** Of the first row shown; empty without rows. */
  readonly day: string;
  readonly widths: ColumnWidths;
  /** Absent if the columns are fixed. */
  readonly actions: ColumnActions | undefined;
}

const keyStep = 40;

export function GridHead({ columns, day, widths, actions }: GridHeadProps) {
  const [dragged, setDragged] = useState<FieldName>();
  const drop = (onto: FieldName) => {
    if (dragged !== undefined) actions?.onColumns(withMoved(columns, dragged, onto));
    setDragged(undefined);
  };
  return (
    <div role="row" aria-rowindex={1} className={styles.head}>
      <span role="columnheader" className={styles.cell} title={`Time ${day}`.trimEnd()}>
        <span className={styles.title}>{`Time ${day}`.trimEnd()}</span>
      </span>
      <Cell
        name="severity"
        title="Severity"
        items={sortItems('severity', actions)}
        actions={actions}
      />
      {columns.map((name) => {
        const title = toVisibleText(fieldTitle(name));
        const own = actions && itemsOf(name, columns, { ...actions, widths });
        return (
          <Cell
            key={name}
            name={name}
            title={title}
            items={own ?? []}
            actions={actions}
            widths={widths}
            isDropTarget={dragged !== undefined && dragged !== name}
            onDrag={() => setDragged(name)}
            onDrop={() => drop(name)}
            onDragEnd={() => setDragged(undefined)}
          />
        );
      })}
      <span role="columnheader" className={styles.cell} title="Message">
        <span className={styles.title}>Message</span>
      </span>
    </div>
  );
}

interface CellProps {
  readonly name: FieldName;
  readonly title: string;
  readonly items: readonly MenuItem[];
  readonly actions: ColumnActions | undefined;
  /** Absent if the width is fixed. */
  readonly widths?: ColumnWidths;
  readonly isDropTarget?: boolean;
  readonly onDrag?: () => void;
  readonly onDrop?: () => void;
  readonly onDragEnd?: () => void;
}

function Cell(props: CellProps) {
  const { name, title, items, actions, widths, isDropTarget = false, onDrag } = props;
  const cell = useRef<HTMLSpanElement>(null);
  const sort = actions?.sort?.column === name ? actions.sort : undefined;
  const start = (event: DragEvent) => {
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', title);
    onDrag?.();
  };
  return (
    <span
      ref={cell}
      role="columnheader"
      // Without the name of the menu.
      aria-label={title}
      aria-sort={sort && (sort.isDescending ? 'descending' : 'ascending')}
      className={styles.cell}
      title={title}
      data-is-target={isDropTarget}
      draggable={onDrag !== undefined && actions !== undefined}
      onDragStart={start}
      onDragOver={(event) => isDropTarget && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        props.onDrop?.();
      }}
      onDragEnd={props.onDragEnd}
    >
      <span className={styles.title} onClick={() => actions?.onSort(nextSort(name, sort))}>
        {title}
      </span>
      {sort && (
        <span className={sort.isDescending ? styles.sorted : styles.ascending}>
          <Icon name="chevron-down" />
        </span>
      )}
      {items.length > 0 && (
        <span className={styles.menu}>
          <Menu label={`Column ${title}`} items={items} isSmall />
        </span>
      )}
      {widths && <WidthEdge cell={cell} onWidth={(width) => widths.set(name, width)} />}
    </span>
  );
}

interface WidthEdgeProps {
  readonly cell: { readonly current: HTMLElement | null };
  /** @param width undefined = the usual one */
  readonly onWidth: (width: number | undefined) => void;
}

/** For pointers; the menu of the column has the same for keys. */
function WidthEdge({ cell, onWidth }: WidthEdgeProps) {
  const grabbed = useRef<number>(undefined);
  return (
    <span
      className={styles.edge}
      data-edge=""
      title="Drag to resize; double-click for the usual width"
      // The edge is part of a cell that can be dragged.
      draggable
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        grabbed.current = cell.current!.getBoundingClientRect().width - event.clientX;
      }}
      onPointerMove={({ clientX }) => {
        if (grabbed.current !== undefined) onWidth(grabbed.current + clientX);
      }}
      onLostPointerCapture={() => {
        grabbed.current = undefined;
      }}
      onDoubleClick={() => onWidth(undefined)}
    />
  );
}

function itemsOf(
  name: FieldName,
  columns: readonly FieldName[],
  { widths, ...actions }: ColumnActions & { readonly widths: ColumnWidths },
): MenuItem[] {
  const at = columns.indexOf(name);
  const [left, right] = [columns[at - 1], columns[at + 1]];
  const move = (onto: FieldName) => () => actions.onColumns(withMoved(columns, name, onto));
  return [
    ...sortItems(name, actions),
    ...(left === undefined ? [] : [{ label: 'Move left', onPick: move(left) }]),
    ...(right === undefined ? [] : [{ label: 'Move right', onPick: move(right) }]),
    { label: 'Wider', onPick: () => widths.set(name, widths.of(name) + keyStep) },
    { label: 'Narrower', onPick: () => widths.set(name, widths.of(name) - keyStep) },
    { label: 'Usual width', onPick: () => widths.set(name, undefined) },
    { label: 'Remove', onPick: () => actions.onColumns(columns.toSpliced(at, 1)) },
  ];
}

function sortItems(name: FieldName, actions: ColumnActions | undefined): MenuItem[] {
  if (actions === undefined) return [];
  const { sort, onSort } = actions;
  const isSorted = sort?.column === name;
  return [
    { label: 'Sort ascending', onPick: () => onSort({ column: name, isDescending: false }) },
    { label: 'Sort descending', onPick: () => onSort({ column: name, isDescending: true }) },
    ...(isSorted ? [{ label: 'Sort by time', onPick: () => onSort(undefined) }] : []),
  ];
}

/** Ascending, descending, by time. */
function nextSort(column: FieldName, sort: ColumnSort | undefined): ColumnSort | undefined {
  if (sort === undefined) return { column, isDescending: false };
  return sort.isDescending ? undefined : { column, isDescending: true };
}

function withMoved(columns: readonly FieldName[], name: FieldName, onto: FieldName): FieldName[] {
  const to = columns.indexOf(onto);
  return columns.toSpliced(columns.indexOf(name), 1).toSpliced(to, 0, name);
}
