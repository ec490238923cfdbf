/**
 * Detects damage in the file of the embedded directory. SQLite detects a broken structure, but not
 * a changed value, so each transaction that changes the control plane also stores a digest of it.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Tables that grants depend on; statistics, tickets and sessions change too often. */
const controlTables = [
  'accounts',
  'streams',
  'deleted_streams',
  'receivers',
  'tokens',
  'token_accounts',
  'views',
];
/** Written outside of control plane transactions. */
const uncoveredColumns: ReadonlySet<string> = new Set(['last_used_at']);

/**
 * @param isAccepted accepts values that do not match the digest
 * @throws Error with a description of the damage
 */
export function checkIntegrity(connection: DatabaseSync, isAccepted: boolean): void {
  const [first] = connection.prepare('PRAGMA integrity_check(1)').all();
  const found = String(first?.['integrity_check']);
  if (found !== 'ok') throw new Error(`it is damaged (${found}); restore the last backup`);
  if (isAccepted || matchesDigest(connection)) return;
  throw new Error(
    'its accounts, receivers, tokens or views changed on disk since they were written; ' +
      'restore the last backup, or keep them as they are now with: weir directory accept',
  );
}

/** Reads in one transaction, since another process may write. */
function matchesDigest(connection: DatabaseSync): boolean {
  connection.exec('BEGIN');
  try {
    if (!hasTable(connection, 'control_digest')) return true;
    const row = connection.prepare('SELECT digest FROM control_digest').get();
    return row?.['digest'] === digestOf(connection);
  } finally {
    connection.exec('COMMIT');
  }
}

/** Must be the last statement of the transaction on `connection`. */
export function storeDigest(connection: DatabaseSync): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS control_digest
    (id INTEGER PRIMARY KEY CHECK (id = 1), digest TEXT NOT NULL)`);
  connection
    .prepare('INSERT OR REPLACE INTO control_digest VALUES (1, ?)')
    .run(digestOf(connection));
}

/**
 * Checkpoints and truncates the write-ahead log, since SQLite silently ignores the rest of a
 * damaged log. Skipped while a transaction is open in any process or the disk is full; committed
 * data then stays in the log until the next call.
 */
export function emptyLog(connection: DatabaseSync): void {
  if (connection.isTransaction) return;
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The preceding transaction is durable, so its caller must not fail.
  }
}

/** SHA-256 of all rows, as hex. */
function digestOf(connection: DatabaseSync): string {
  const hash = createHash('sha256');
  for (const table of controlTables) {
    if (!hasTable(connection, table)) continue;
    const columns = connection
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !uncoveredColumns.has(name));
    const statement = connection.prepare(`SELECT ${columns.join()} FROM ${table} ORDER BY rowid`);
    statement.setReturnArrays(true);
    hash.update(JSON.stringify([table, columns]));
    for (const row of statement.iterate()) hash.update(JSON.stringify(row));
  }
  return hash.digest('hex');
}

function hasTable(connection: DatabaseSync, name: string): boolean {
  const sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  return connection.prepare(sql).get(name) !== undefined;
}
