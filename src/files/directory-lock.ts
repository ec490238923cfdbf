/**
 * One process per data directory. SQLite's file lock, which the kernel releases when the process
 * exits, so that no lock is stale.
 */
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { replaceTextFile } from './atomic-file.ts';

export interface DirectoryLock extends Disposable {
  /** The lock file was damaged and has been replaced. */
  readonly isMended: boolean;
  release(): void;
}

/** https://sqlite.org/rescode.html */
const sqliteCodes = { busy: 5, corrupt: 11, notADatabase: 26 };

/** In a directory that a service has run on. */
export const lockFileName = 'lock.db';

/** @throws Error with the process that holds the lock, or why the directory cannot be locked */
export function lockDirectory(directory: string): DirectoryLock {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, 'owner.pid');
  const locked = tryLock(file);
  if (typeof locked === 'string') {
    throw new Error(`cannot lock data directory ${directory}: ${file}: ${locked}`);
  }
  if (locked === undefined) {
    throw new Error(
      `cannot open data directory ${directory}: another weir process ` +
        `(${readOwner(ownerFile)}) holds it; stop it, or choose another with --data`,
    );
  }
  try {
    replaceTextFile(ownerFile, `${process.pid}\n`);
  } catch (error) {
    locked.release();
    throw error;
  }
  return locked;
}

/** @returns undefined if another process holds the lock; a reason if locking fails */
function tryLock(file: string): DirectoryLock | undefined | string {
  for (let isMended = false; ; isMended = true) {
    try {
      const database = openExclusive(file);
      const release = () => database.isOpen && database.close();
      return { isMended, release, [Symbol.dispose]: release };
    } catch (error) {
      const { errcode, message } = error as Error & { errcode?: number };
      if (errcode === sqliteCodes.busy) return undefined;
      const isDamaged = errcode === sqliteCodes.notADatabase || errcode === sqliteCodes.corrupt;
      if (isMended || !isDamaged) return message;
      // It holds no data. Truncated, not replaced: another process may be about to lock it.
      truncateSync(file, 0);
    }
  }
}

function openExclusive(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function readOwner(file: string): string {
  try {
    return `pid ${readFileSync(file, 'utf8').trim()}`;
  } catch {
    return 'of unknown pid';
  }
}
