/** Opens the directory: the embedded one, or the one that several nodes share. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { type CachedGrants, createGrants } from '../directory/grants.ts';
import type { Directory, GrantSource } from '../directory/port.ts';
import { openPostgresDirectory } from '../directory/postgres.ts';
import { openDirectoryChanges } from '../directory/postgres-changes.ts';
import { openSqliteDirectory, sqliteFileName } from '../directory/sqlite.ts';
import type { DirectoryEvents } from '../telemetry/directory-events.ts';
import * as options from './options.ts';

/** Keeps a part to be closed with the others, and hands it on. */
export type Opened = <Part extends { close(): Promise<void> }>(part: Part) => Part;

export interface DirectoryParts {
  readonly directory: Directory & GrantSource;
  /** The cached view of it, which hears of what other nodes change. */
  readonly grants: CachedGrants;
}

/** @param opened told of each part, in the order in which they are opened. */
export async function openDirectory(
  config: Readonly<Config>,
  opened: Opened,
  telemetry: DirectoryEvents,
): Promise<DirectoryParts> {
  const { url, password, poolSize, waitSeconds } = config.directory;
  const patience = { seconds: waitSeconds, telemetry };
  const isShared = url !== '';
  const directory = opened(
    isShared
      ? await openPostgresDirectory({ url, password, poolSize, patience })
      : await openEmbedded(resolve(config.data)),
  );
  const grants = opened(createGrants(directory, options.toGrantsOptions(config), telemetry));
  if (isShared) {
    telemetry.sharedDirectoryOpened();
    opened(openDirectoryChanges({ url, password }, { source: directory, grants }, telemetry));
  }
  return { directory, grants };
}

/** @throws Error where its file is gone: a new directory would refuse the tokens of all senders */
function openEmbedded(dataDir: string): Promise<Directory & GrantSource> {
  const file = join(dataDir, sqliteFileName);
  const isEmpty = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  const quickstart = join(dataDir, 'quickstart.json');
  if (isEmpty && hasServed(quickstart)) {
    throw new Error(
      `cannot open the directory: ${file} is missing or empty, and ${quickstart} shows that it ` +
        'was there; restore directory.db from the last backup, or remove quickstart.json to ' +
        'begin with a new directory and new tokens',
    );
  }
  return openSqliteDirectory({ file });
}

/** An engine of its own writes the file without these addresses, and has no directory. */
function hasServed(quickstart: string): boolean {
  return existsSync(quickstart) && readFileSync(quickstart, 'utf8').includes('"ingestUrl"');
}
