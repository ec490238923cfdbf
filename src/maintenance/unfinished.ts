/** Marker folders of a running backup and of an unfinished restore. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Snapshots of a running backup, on the disk of the data directory. */
export const heldName = 'backup';
/** A restore unpacks here. */
export const restoringName = 'restoring';

/** @throws Error after an unfinished restore */
export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringName))) return;
  throw new Error(
    `cannot open data directory ${dataDir}: a restore into it did not finish; ` +
      'empty it and restore again',
  );
}
