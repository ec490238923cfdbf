/**
 * Opens the directory (SQLite in the data directory, or PostgreSQL), its cache and the statistics.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CachedGrants, createGrants } from '../directory/grants.ts';
import type { Directory, GrantSource, StatisticsStore } from '../directory/port.ts';
import type { PostgresDirectoryOptions } from '../directory/postgres.ts';
import { openSqliteDirectory, sqliteFileName } from '../directory/sqlite.ts';
import {
  openReceiverStatistics,
  type ReceiverStatistics,
  receiverStatisticsDefaults,
} from '../ingest/receiver-statistics.ts';
import {
  createDirectoryEvents,
  createStatisticsEvents,
  type DirectoryEvents,
} from '../telemetry/node-events.ts';
import type { Opening } from './opening.ts';

export interface DirectoryParts {
  readonly directory: Directory & GrantSource;
  /** The directory behind a cache; each change invalidates the cache. */
  readonly grants: CachedGrants;
  readonly statistics: ReceiverStatistics;
  readonly directoryEvents: DirectoryEvents;
}

export async function openDirectory(opening: Opening): Promise<DirectoryParts> {
  const { config, parts, instruments } = opening;
  const directoryEvents = createDirectoryEvents(instruments);
  const { url, password, poolSize, waitSeconds } = config.directory;
  const isShared = url !== '';
  const startRetry = { seconds: waitSeconds, telemetry: directoryEvents };
  const directory = parts.own(
    isShared
      ? await openShared({ url, password, poolSize, startRetry })
      : await openEmbedded(resolve(config.data)),
  );
  const grants = openGrants(opening, directory, directoryEvents);
  if (isShared) {
    directoryEvents.sharedDirectoryOpened();
    const { openDirectoryChanges } = await import('../directory/postgres-changes.ts');
    parts.own(
      openDirectoryChanges({ url, password }, { source: directory, grants }, directoryEvents),
    );
  }
  return { directory, grants, statistics: openStatistics(opening, directory), directoryEvents };
}

/** With dynamic imports: the client of PostgreSQL is loaded only if it is used. */
async function openShared(options: PostgresDirectoryOptions): Promise<Directory & GrantSource> {
  const { openPostgresDirectory } = await import('../directory/postgres.ts');
  return openPostgresDirectory(options);
}

export function openGrants(
  { config, parts }: Opening,
  source: GrantSource,
  events: DirectoryEvents,
): CachedGrants {
  return parts.own(createGrants(source, config.directory, events));
}

export function openStatistics(
  { config, parts, instruments }: Opening,
  store: StatisticsStore,
): ReceiverStatistics {
  const { retentionDays, flushSeconds } = config.statistics;
  const options = {
    ...receiverStatisticsDefaults,
    retentionDays,
    flushEveryMs: flushSeconds * 1000,
  };
  return parts.own(openReceiverStatistics(store, options, createStatisticsEvents(instruments)));
}

/**
 * @throws Error when its file is missing although Weir has run: a new directory would refuse all
 * tokens
 */
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

/** An engine-only process writes quickstart.json too, and has no directory. */
function hasServed(quickstart: string): boolean {
  return existsSync(quickstart) && readFileSync(quickstart, 'utf8').includes('"ingestUrl"');
}
