/**
 * The bucket `signals` of all nodes: that labels of series may be missing (key `series`), and which
 * store the writers fill (key `store`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../model/errors.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';

const seriesKey = 'series';

/** `poll` covers signals sent while disconnected; the first one may report an old signal. */
export function createSeriesSignal(
  { connection }: Pick<NatsLink, 'connection'>,
  signals: Pick<Bucket, 'get' | 'put' | 'subject'>,
) {
  const listeners: (() => void)[] = [];
  /** Random values, so that a signal that arrives twice is reported once. */
  let lastSignal = '';
  let lastRead = '';

  const signal = (value: string): void => {
    if (value === lastSignal) return;
    lastSignal = value;
    for (const listener of listeners) listener();
  };
  // Core subscribers receive what is written into a bucket.
  connection.subscribe(signals.subject(seriesKey), {
    callback: (error, message) => {
      if (error === null) signal(message.string());
    },
  });

  return {
    /** Calls the listeners of this process at once. @throws AppError `unavailable` */
    async raise(): Promise<void> {
      const value = randomBase32(26);
      signal(value);
      await signals.put(seriesKey, Buffer.from(value));
    },
    /** Calls the listeners of this process: the others notice for themselves. */
    notice: () => signal(randomBase32(26)),
    listen: (listener: () => void) => void listeners.push(listener),
    /** Reads whether it was raised since the last read. @throws AppError `unavailable` */
    async poll(): Promise<void> {
      const entry = await signals.get(seriesKey);
      // Compared by value: revisions start over when the bucket is created again.
      const value = entry?.value.toString() ?? '';
      if (value === lastRead) return;
      lastRead = value;
      // An empty value is a signal too: the bucket was created again and may have lost one.
      signal(value);
    },
  };
}

const storeKey = 'store';
/** Running writers write into the bucket of the leases several times within a lease. */
const marginMs = 500;
/** A new bucket may have no leader yet. */
const claimTimeoutMs = 20_000;
const retryPauseMs = 250;

/**
 * Binds the queue to one store: with two, readers of either would miss half of the batches. A store
 * that was replaced on purpose is accepted once no writer runs.
 * @param storeId the same for all writers of this store
 * @throws Error if running writers fill another one, AppError `unavailable`
 */
export async function claimStore(
  link: NatsLink,
  signals: Pick<Bucket, 'get' | 'replace'>,
  storeId: string,
): Promise<void> {
  const giveUpAt = performance.now() + claimTimeoutMs;
  for (;;) {
    try {
      if (await tryClaim(link, signals, storeId)) return;
    } catch (error) {
      if (!(error instanceof AppError) || performance.now() > giveUpAt) throw error;
      await sleep(retryPauseMs);
    }
  }
}

/** @returns false if the entry changed meanwhile */
async function tryClaim(
  link: NatsLink,
  signals: Pick<Bucket, 'get' | 'replace'>,
  storeId: string,
): Promise<boolean> {
  const entry = await signals.get(storeKey);
  if (entry?.value.toString() === storeId) return true;
  if (entry !== undefined && (await hasWriters(link))) {
    throw new Error(
      `cannot drain the queue "${link.settings.prefix}" at NATS into this store: running writers ` +
        'fill another one; give all nodes the same store.url, or this Weir another queue.prefix',
    );
  }
  const written = await signals.replace(storeKey, Buffer.from(storeId), entry?.revision ?? 0);
  return written !== undefined;
}

async function hasWriters({ manager, names, settings }: NatsLink): Promise<boolean> {
  const lastSequence = async () => {
    const { state } = await manager.streams.info(`KV_${names.leases}`);
    return state.last_seq;
  };
  const before = await lastSequence();
  await sleep(settings.leaseSeconds * 1000 + marginMs);
  return (await lastSequence()) !== before;
}
