/** Checks the data directory on this machine. */
import { statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { toSize } from '../sending/progress.ts';
import { failure, type Finding, found, skipped, warning } from './finding.ts';
import type { Targets } from './targets.ts';

/** The default of queue.minFreeDiskBytes, below which the service refuses logs. */
const minFreeBytes = 1024 ** 3;
const minFreeShare = 0.05;

export async function checkLocal(targets: Targets): Promise<Finding[]> {
  const { dataDir, isLocal, quickstartFault } = targets;
  const check = 'data directory';
  if (quickstartFault !== undefined) {
    const advice = 'repair the file or its permissions, or restart the service to write it again';
    return [failure(check, quickstartFault, advice)];
  }
  if (isLocal) return [await checkQuickstart(check, dataDir), await checkDisk('disk', dataDir)];
  const isThere = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const where = isThere ? 'holds no quickstart.json' : 'does not exist';
  return [skipped(check, `${dataDir} ${where}: the service runs elsewhere`)];
}

async function checkQuickstart(check: string, dataDir: string): Promise<Finding> {
  const file = join(dataDir, 'quickstart.json');
  const { mode, mtime } = await stat(file);
  if ((mode & 0o077) === 0) return found(check, `${file}, written ${mtime.toISOString()}`);
  return warning(check, `${file} holds tokens and others may read it`, `chmod 600 ${file}`);
}

async function checkDisk(check: string, dataDir: string): Promise<Finding> {
  const { bsize, bavail, blocks, files, ffree } = await statfs(dataDir);
  const free = bavail * bsize;
  const says = `${toSize(free)} of ${toSize(blocks * bsize)} free`;
  const advice = 'free some space, shorten the retention of streams, or move the data directory';
  if (free < minFreeBytes) return failure(check, says, advice);
  if (bavail < blocks * minFreeShare) return warning(check, says, advice);
  // Some file systems report no limit on files.
  if (files === 0 || ffree >= files * minFreeShare) return found(check, says);
  return warning(
    check,
    `${says}, but only ${ffree} of ${files} files can still be created`,
    advice,
  );
}
