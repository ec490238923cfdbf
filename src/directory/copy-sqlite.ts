/** A copy of the embedded directory as it is at one moment, made beside whoever uses it. */
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../std/error-text.ts';

/** How long to wait for another process, ms. */
const waitMs = 5_000;

/**
 * @param target a file that is not there yet; it is not synced.
 * @throws Error where the directory cannot be read or the copy not be written
 */
export function copySqliteDirectory(file: string, target: string): void {
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(`cannot copy the directory ${file}: ${reason}`, { cause });
  } finally {
    database.close();
  }
}
