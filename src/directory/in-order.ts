/** Keeps processes that write to the same rows from waiting for each other in a ring. */

/** @returns the rows by their key, so that everybody who writes them takes them in one order. */
export function inOrder<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}
