/**
 * Sees to it that all writers of a queue fill one store: half of the batches in another one would
 * be missed by every reader of either. Which store that is stands in a bucket.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../model/errors.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';

const key = 'store';
/** Writers that are there write into the bucket of the leases several times within a lease. */
const marginMs = 500;
/** A bucket that was just made may have no leader yet. */
const patienceMs = 20_000;
const lookAgainMs = 250;

export interface StoreClaim {
  /**
   * A store that was replaced on purpose is taken once no writer runs any more.
   * @param storeId the same for everyone who fills this store
   * @throws Error where running writers fill another one, AppError `unavailable`
   */
  bind(storeId: string): Promise<void>;
  /** Claims again what was bound, as after the bucket was made anew. @throws like `bind` */
  renew(): Promise<void>;
}

export function createStoreClaim(
  link: NatsLink,
  signals: Pick<Bucket, 'get' | 'replace'>,
): StoreClaim {
  let bound: string | undefined;
  return {
    async bind(storeId) {
      await claimStore(link, signals, storeId);
      bound = storeId;
    },
    async renew() {
      if (bound !== undefined) await claimStore(link, signals, bound);
    },
  };
}

async function claimStore(
  link: NatsLink,
  signals: Pick<Bucket, 'get' | 'replace'>,
  storeId: string,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await claim(link, signals, storeId);
    } catch (error) {
      if (!(error instanceof AppError) || performance.now() > giveUpAt) throw error;
    }
    await sleep(lookAgainMs);
  }
}

async function claim(
  link: NatsLink,
  signals: Pick<Bucket, 'get' | 'replace'>,
  storeId: string,
): Promise<void> {
  for (;;) {
    const entry = await signals.get(key);
    if (entry?.value.toString() === storeId) return;
    if (entry !== undefined && (await hasWriters(link))) {
      throw new Error(
        `cannot drain the queue "${link.options.prefix}" at NATS into this store: writers that ` +
          'run fill another one; give all nodes the same store.url, or this Weir a queue.prefix ' +
          'of its own',
      );
    }
    const written = await signals.replace(key, Buffer.from(storeId), entry?.revision ?? 0);
    if (written !== undefined) return;
  }
}

async function hasWriters({ manager, names, options }: NatsLink): Promise<boolean> {
  const lastSequence = async () => {
    const { state } = await manager.streams.info(`KV_${names.leases}`);
    return state.last_seq;
  };
  const before = await lastSequence();
  await sleep(options.leaseMs + marginMs);
  return (await lastSequence()) !== before;
}
