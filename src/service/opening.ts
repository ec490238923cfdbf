/** State shared by all steps of opening, and the data directory. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { sweepBackups } from '../maintenance/backup.ts';
import { assertRestoreFinished } from '../maintenance/unfinished.ts';
import { createDataFolderEvents } from '../telemetry/node-events.ts';
import { createInstruments, type Instruments } from '../telemetry/instruments.ts';

export interface Opening {
  readonly config: Readonly<Config>;
  readonly instruments: Instruments;
  readonly parts: Parts;
}

/** Opened parts, closed in reverse order. */
export class Parts extends AsyncDisposableStack {
  own<Part extends { close(): Promise<void> }>(part: Part): Part {
    return this.adopt(part, (it) => it.close());
  }
}

/** @param fields added to every log line. */
export function startOpening(config: Readonly<Config>, parts: Parts, fields?: object): Opening {
  return { config, parts, instruments: createInstruments(config.logLevel, fields) };
}

/**
 * Creates the data directory if missing, locks it until the parts are closed, and releases what a
 * killed backup holds.
 * @returns its absolute path
 * @throws Error naming the process that holds the lock; after an unfinished restore
 */
export function openDataFolder({ config, instruments, parts }: Opening): string {
  const dataDir = resolve(config.data);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = parts.use(lockDirectory(dataDir));
  if (lock.isMended) createDataFolderEvents(instruments).lockReplaced(dataDir);
  assertRestoreFinished(dataDir);
  sweepBackups(dataDir);
  return dataDir;
}
