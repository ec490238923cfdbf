/** The folders by which a data directory says that a backup, or a restoring, is under way. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What a backup needs on the data directory's own disk. */
export const heldName = 'backup';
/** Where a backup is unpacked to. */
export const restoringName = 'restoring';

/** @throws Error where a backup was restored only in part */
export function assertWholeDirectory(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringName))) return;
  throw new Error(
    `cannot open data directory ${dataDir}: restoring a backup into it was not finished; ` +
      'empty it and restore again',
  );
}
