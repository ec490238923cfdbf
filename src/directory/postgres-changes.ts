/**
 * Hears of changes that other nodes make to the directory in PostgreSQL, within milliseconds. While
 * it cannot, what is cached grows old as it does without it: nothing depends on hearing.
 */
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { AppError } from '../model/errors.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import type { GrantSource } from './port.ts';
import {
  defaultPostgresTimes,
  type PostgresAddress,
  type PostgresTimes,
  toClientConfig,
} from './postgres-pool.ts';

/** Where writers tell that they have changed something. */
export const changesChannel = 'weir_directory';

/** Many changes in a row make the cache forget once. */
const gatherMs = 20;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
const lookUpEveryMs = 20;

export interface DirectoryChanges {
  close(): Promise<void>;
}

export interface DirectoryChangesOptions extends PostgresAddress {
  readonly times?: PostgresTimes;
}

/** What is cached of the directory, and the directory that is asked once the cache is empty. */
export interface CachedDirectory {
  /** Invalidated at each change, and where one may have been missed. */
  readonly grants: { invalidate(): void };
  readonly source: Pick<GrantSource, 'listStreams'>;
}

/** Listens for as long as it is open, and connects again whenever it must. */
export function openDirectoryChanges(
  options: DirectoryChangesOptions,
  cached: CachedDirectory,
  telemetry: Pick<DirectoryEvents, 'changesNotHeard' | 'changesHeard'>,
): DirectoryChanges {
  const closing = new AbortController();
  const listening = listen(options, cached, telemetry, closing.signal);
  return {
    async close() {
      closing.abort();
      await listening;
    },
  };
}

async function listen(
  options: DirectoryChangesOptions,
  cached: CachedDirectory,
  telemetry: Pick<DirectoryEvents, 'changesNotHeard' | 'changesHeard'>,
  closing: AbortSignal,
): Promise<void> {
  let pauseMs = firstPauseMs;
  let isDeaf = false;
  const listens = (): void => {
    pauseMs = firstPauseMs;
    if (isDeaf) telemetry.changesHeard();
    isDeaf = false;
    cached.grants.invalidate();
  };
  while (!closing.aborted) {
    const error = await untilLost(options, cached, listens, closing);
    if (closing.aborted) return;
    if (!isDeaf) telemetry.changesNotHeard(error);
    isDeaf = true;
    await pause(pauseMs, closing);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

/** @returns why it listens no more. */
async function untilLost(
  options: DirectoryChangesOptions,
  { grants, source }: CachedDirectory,
  listens: () => void,
  closing: AbortSignal,
): Promise<unknown> {
  const lost = new AbortController();
  const ends = AbortSignal.any([closing, lost.signal]);
  const socket = new Socket();
  // Whatever is under way then gets no answer, and need not wait for one.
  closing.addEventListener('abort', () => socket.destroy(), { signal: lost.signal });
  let gathering: NodeJS.Timeout | undefined;
  const notified = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      grants.invalidate();
    }, gatherMs);
  };
  try {
    // Inside, since it may have to read files for TLS.
    const { times = defaultPostgresTimes, ...address } = options;
    const client = new Client({
      ...toClientConfig(address, times),
      query_timeout: times.answerMs,
      stream: () => socket,
    });
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('the server closed the connection')));
    await client.connect();
    await client.query(`listen ${changesChannel}`);
    // Until then the cache must not be emptied: known tokens would be refused.
    await untilLookedUp(source, ends);
    if (!ends.aborted) {
      client.on('notification', notified);
      listens();
    }
    while (!ends.aborted) {
      await pause(times.tryMs, ends);
      if (!ends.aborted) await client.query('select 1');
    }
    return lost.signal.reason;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(gathering);
    lost.abort();
    socket.destroy();
  }
}

/** Resolves once a look-up succeeds, which other connections serve, or once aborted. */
async function untilLookedUp(source: CachedDirectory['source'], ends: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  ends.addEventListener('abort', () => aborted.resolve(), { once: true });
  while (!ends.aborted) {
    try {
      await Promise.race([source.listStreams(''), aborted.promise]);
      return;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      await pause(lookUpEveryMs, ends);
    }
  }
}

async function pause(ms: number, ends: AbortSignal): Promise<void> {
  // Cut short is as good as over.
  await sleep(ms, undefined, { signal: ends, ref: false }).catch(() => undefined);
}
