/** Table that becomes a list of cards on a phone. */
import type { ReactNode } from 'react';
import { Menu, type MenuItem } from '../controls/menu.tsx';
import { toVisibleText } from '../text/visible-text.ts';
import styles from './data-table.module.css';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** For numbers, and for a last column of buttons. */
  readonly isAtEnd?: boolean;
  /** No wrapping. */
  readonly isTight?: boolean;
}

export interface DataTableProps<Row> {
  /** Accessible name. */
  readonly caption: string;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Need not be unique. */
  readonly keyOf: (row: Row) => string;
}

export function DataTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  const keys = uniqueKeys(rows.map(keyOf));
  return (
    <table className={styles.table}>
      <caption className="only-read">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ header, isAtEnd }) => (
            <th key={header} scope="col" className={isAtEnd ? styles.end : undefined}>
              {header === actions ? <span className="only-read">{header}</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={keys[at]}>
            {columns.map((column, index) => (
              <Cell key={column.header} column={column} row={row} isFirst={index === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** React leaves rows behind where several have the same key. */
function uniqueKeys(keys: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return keys.map((key) => {
    const earlier = counts.get(key) ?? 0;
    counts.set(key, earlier + 1);
    return `${key} ${earlier}`;
  });
}

/** Column header for screen readers only. */
export const actions = 'Actions';

/** A last column with a menu for each row. */
export function menuColumn<Row extends { readonly name: string }>(
  itemsOf: (row: Row) => readonly MenuItem[],
): Column<Row> {
  const menuOf = (row: Row) => (
    <Menu label={`More for ${toVisibleText(row.name)}`} items={itemsOf(row)} />
  );
  return { header: actions, isAtEnd: true, cell: menuOf };
}

function Cell<Row>({
  column: { header, cell, isAtEnd, isTight },
  row,
  isFirst,
}: {
  column: Column<Row>;
  row: Row;
  isFirst: boolean;
}) {
  const isMenu = header === actions;
  const className = [isAtEnd && styles.end, isTight && styles.tight, isMenu && styles.menu]
    .filter((name) => typeof name === 'string')
    .join(' ');
  if (isFirst) {
    return (
      <th scope="row" className={`${styles.name ?? ''} ${className}`}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td className={className} data-header={isMenu ? undefined : header}>
      {cell(row)}
    </td>
  );
}
