/** The data directory on this machine, where there is one. */
import { statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { toSize } from '../sending/progress.ts';
import { type Finding, found, skipped } from './finding.ts';
import type { Places } from './places.ts';

/** Below it the service refuses logs by default (queue.minFreeDiskBytes). */
const leastFreeBytes = 1024 ** 3;
const leastFreeShare = 0.05;

export async function checkLocal(places: Places): Promise<Finding[]> {
  const { dataDir, isLocal, quickstartFault } = places;
  if (quickstartFault !== undefined) {
    const advice = 'mend the file or its rights, or start the service again to write it anew';
    return [{ check: 'data directory', status: 'fail', says: quickstartFault, advice }];
  }
  if (!isLocal) {
    const isThere = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const where = isThere ? 'holds no quickstart.json' : 'is not here';
    return [skipped('data directory', `${dataDir} ${where}: the service is taken to be elsewhere`)];
  }
  return [await checkQuickstart(dataDir), ...(await checkDisk(dataDir))];
}

async function checkQuickstart(dataDir: string): Promise<Finding> {
  const file = join(dataDir, 'quickstart.json');
  const { mode, mtime } = await stat(file);
  const written = `${file}, written ${mtime.toISOString()}`;
  if ((mode & 0o077) === 0) return found('data directory', written);
  return {
    check: 'data directory',
    status: 'warn',
    says: `${file} holds tokens and others may read it`,
    advice: `chmod 600 ${file}`,
  };
}

async function checkDisk(dataDir: string): Promise<Finding[]> {
  const { bsize, bavail, blocks, files, ffree } = await statfs(dataDir);
  const free = bavail * bsize;
  const says = `${toSize(free)} of ${toSize(blocks * bsize)} free`;
  const advice = 'free some space, shorten the retention of streams, or move the data directory';
  if (free < leastFreeBytes) return [{ check: 'disk', status: 'fail', says, advice }];
  if (bavail < blocks * leastFreeShare) return [{ check: 'disk', status: 'warn', says, advice }];
  // Some file systems do not count their files.
  if (files === 0 || ffree >= files * leastFreeShare) return [found('disk', says)];
  const full = `${says}, but only ${ffree} of ${files} files can still be made`;
  return [{ check: 'disk', status: 'warn', says: full, advice }];
}
