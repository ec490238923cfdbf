/**
 * Invalidates the cache within milliseconds of a change by another node, with LISTEN/NOTIFY. While
 * the connection is lost, cached answers expire by age instead.
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

/** Channel that writers notify at each commit. */
export const changesChannel = 'weir_directory';

/** Notifications within this time cause one invalidation. */
const gatherMs = 20;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
const lookUpPauseMs = 20;

export interface DirectoryChangesOptions extends PostgresAddress {
  readonly times?: PostgresTimes;
}

export interface CachedDirectory {
  /** Invalidated at each change, and after each gap in the notifications. */
  readonly grants: { invalidate(): void };
  readonly source: Pick<GrantSource, 'listStreams'>;
}

/** Reconnects with backoff until closed. */
export function openDirectoryChanges(
  options: DirectoryChangesOptions,
  cached: CachedDirectory,
  telemetry: Pick<DirectoryEvents, 'changeFeedLost' | 'changeFeedRestored'>,
) {
  const closing = new AbortController();
  const listening = listen(options, cached, telemetry, closing.signal);
  return {
    async close(): Promise<void> {
      closing.abort();
      await listening;
    },
  };
}

async function listen(
  options: DirectoryChangesOptions,
  cached: CachedDirectory,
  telemetry: Pick<DirectoryEvents, 'changeFeedLost' | 'changeFeedRestored'>,
  closing: AbortSignal,
): Promise<void> {
  let pauseMs = firstPauseMs;
  let isLost = false;
  const onListening = (): void => {
    pauseMs = firstPauseMs;
    if (isLost) telemetry.changeFeedRestored();
    isLost = false;
    cached.grants.invalidate();
  };
  while (!closing.aborted) {
    const error = await listenUntilLost(options, cached, onListening, closing);
    if (closing.aborted) return;
    if (!isLost) telemetry.changeFeedLost(error);
    isLost = true;
    await pause(pauseMs, closing);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

/** @returns the reason for the loss of the connection. */
async function listenUntilLost(
  options: DirectoryChangesOptions,
  { grants, source }: CachedDirectory,
  onListening: () => void,
  closing: AbortSignal,
): Promise<unknown> {
  const lost = new AbortController();
  const ends = AbortSignal.any([closing, lost.signal]);
  const socket = new Socket();
  // Aborts the query in flight, if any.
  closing.addEventListener('abort', () => socket.destroy(), { signal: lost.signal });
  let gathering: NodeJS.Timeout | undefined;
  const notified = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      grants.invalidate();
    }, gatherMs);
  };
  try {
    // Inside `try`, since it may read files for TLS.
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
    // With an empty cache and no working look-up, valid tokens would be refused.
    await waitForLookUp(source, ends);
    if (!ends.aborted) {
      client.on('notification', notified);
      onListening();
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

/** Resolves when a look-up on another connection succeeds, or when aborted. */
async function waitForLookUp(source: CachedDirectory['source'], ends: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  ends.addEventListener('abort', () => aborted.resolve(), { once: true });
  while (!ends.aborted) {
    try {
      await Promise.race([source.listStreams(''), aborted.promise]);
      return;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      await pause(lookUpPauseMs, ends);
    }
  }
}

async function pause(ms: number, ends: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ends, ref: false }).catch(() => undefined);
}
