/**
 * Finds damage in the file of the embedded directory. SQLite notices a broken structure, but not a
 * changed value, so every transaction that changes the control plane also stores a digest of it.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Tables that grants depend on; statistics and tickets change all the time and are not covered. */
const controlTables = ['accounts', 'streams', 'receivers', 'tokens', 'token_accounts', 'views'];
/** Written beside the transactions of the control plane. */
const uncoveredColumns: ReadonlySet<string> = new Set(['last_used_at']);

/**
 * @param isAccepted whether values that do not match their digest are accepted as they are
 * @throws Error that says what is damaged
 */
export function checkIntegrity(connection: DatabaseSync, isAccepted: boolean): void {
  const [first] = connection.prepare('PRAGMA integrity_check(1)').all();
  const found = String(first?.['integrity_check']);
  if (found !== 'ok') throw new Error(`it is damaged (${found}); restore the last backup`);
  if (isAccepted || isAsWritten(connection)) return;
  throw new Error(
    'its accounts, receivers, tokens or views changed on disk since they were written; ' +
      'restore the last backup, or keep them as they are now with: weir directory accept',
  );
}

/** In one transaction, since another process may write. */
function isAsWritten(connection: DatabaseSync): boolean {
  connection.exec('BEGIN');
  try {
    if (!hasTable(connection, 'control_digest')) return true;
    const row = connection.prepare('SELECT digest FROM control_digest').get();
    return row?.['digest'] === digestOf(connection);
  } finally {
    connection.exec('COMMIT');
  }
}

/** Part of a transaction on `connection`, after its other statements. */
export function storeDigest(connection: DatabaseSync): void {
  connection.exec(`CREATE TABLE IF NOT EXISTS control_digest
    (id INTEGER PRIMARY KEY CHECK (id = 1), digest TEXT NOT NULL)`);
  connection
    .prepare('INSERT OR REPLACE INTO control_digest VALUES (1, ?)')
    .run(digestOf(connection));
}

/**
 * Moves what the write-ahead log holds into the file and empties the log: SQLite ignores the rest
 * of a damaged log without an error. Left for the next call while a transaction is open here or in
 * another process, and where the disk has no room for it: what was committed stays in the log.
 */
export function emptyLog(connection: DatabaseSync): void {
  if (connection.isTransaction) return;
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The transaction before it is durable, and its caller has to be told so.
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
