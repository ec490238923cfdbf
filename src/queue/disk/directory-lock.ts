/**
 * One process per data directory. The lock is SQLite's own file lock, which the system lets go of
 * the moment the process dies, however it dies; a file of ours would have to be judged stale or
 * not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface DirectoryLock {
  release(): void;
}

/** @throws Error naming the process that holds the directory */
export function lockDirectory(directory: string): DirectoryLock {
  const ownerFile = join(directory, 'owner.pid');
  const database = new DatabaseSync(join(directory, 'lock.db'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new Error(
      `cannot open data directory ${directory}: another weir process ` +
        `(${readOwner(ownerFile)}) holds it; stop it, or choose another with --data`,
      { cause },
    );
  }
  writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => database.close() };
}

function readOwner(file: string): string {
  try {
    return `pid ${readFileSync(file, 'utf8').trim()}`;
  } catch {
    return 'of unknown pid';
  }
}
