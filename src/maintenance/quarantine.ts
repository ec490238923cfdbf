/** Opens the quarantine of the configured queue, on disk or at NATS, for maintenance commands. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { lockDirectory, lockFileName } from '../files/directory-lock.ts';
import { openQuarantineFolder } from '../queue/disk/quarantine-folder.ts';
import type { Quarantine } from '../queue/quarantine.ts';
import { createInstruments } from '../telemetry/instruments.ts';
import { assertRestoreFinished } from './unfinished.ts';
import { messageOf } from '../std/error-text.ts';

/**
 * @param purpose `change` locks an embedded queue until `close`.
 * @throws Error for the operator; also for `change` while a service runs on the data directory
 */
export async function openQuarantine(
  config: Readonly<Config>,
  purpose: 'look' | 'change',
): Promise<Quarantine> {
  if (config.queue.urls.length > 0) {
    const { openQuarantineStream } = await import('../queue/nats/quarantine-stream.ts');
    return openQuarantineStream(config.queue, createInstruments('silent'), purpose);
  }
  const dataDir = resolve(config.data);
  if (!existsSync(join(dataDir, lockFileName))) {
    throw new Error(`cannot find ${dataDir}, or no weir has run on it: give its data directory`);
  }
  assertRestoreFinished(dataDir);
  const folder = openQuarantineFolder(join(dataDir, 'queue'));
  if (purpose === 'look') return folder;
  const lock = tryLock(dataDir);
  return {
    ...folder,
    async close() {
      await folder.close();
      lock.release();
    },
  };
}

function tryLock(dataDir: string): ReturnType<typeof lockDirectory> {
  try {
    return lockDirectory(dataDir);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(
      `cannot change the quarantine while a service or a backup works on it: ${reason}`,
      { cause },
    );
  }
}
