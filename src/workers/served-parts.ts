/**
 * Serves one worker the parts that exist once per machine, and releases what the worker held when
 * it exits.
 */
import type { QuotaStore } from '../admission/port.ts';
import type { Served } from '../channel/channel.ts';
import type { GrantSource, StatisticsStore } from '../directory/port.ts';
import type { Claims, HeldClaim } from '../ingest/ingest-replay.ts';
import { sendAgain } from '../model/errors.ts';
import type { Queue } from '../queue/port.ts';
import type { MainMethods } from './methods.ts';

/** Shared by all workers of a machine. */
export interface SharedParts {
  readonly queue: Pick<Queue, 'append'>;
  readonly claims: Claims;
  readonly quota: QuotaStore;
  readonly directory: GrantSource & StatisticsStore;
  /** What is not ready; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  /** See `WorkerBatch`. */
  readonly seriesEpoch: () => number;
}

type Own = 'start' | 'ready' | 'failed' | 'connectionsEnded' | 'connectionAbused';
type PartMethods = Omit<MainMethods, Own>;

export interface ServedParts {
  readonly methods: Served<PartMethods>;
  /** Releases what the worker held; to be called once it has exited. */
  release(): Promise<void>;
}

export function serveParts(parts: SharedParts): ServedParts {
  const { claims, quota, directory } = parts;
  const pending = new Set<Promise<unknown>>();
  const held = new Map<string, HeldClaim>();
  let isReleased = false;
  const settle = (name: string) => {
    held.get(name)?.settle();
    held.delete(name);
  };
  return {
    methods: {
      async append(batch, payload) {
        const { layout, rows, owner, idempotency, seriesEpoch } = batch;
        // The batch relies on labels of series that may have been deleted since.
        if (layout === 'metrics/1' && seriesEpoch !== parts.seriesEpoch()) throw sendAgain();
        const appended = parts.queue.append({ layout, rows, payload }, owner, idempotency);
        pending.add(appended);
        try {
          return await appended;
        } finally {
          pending.delete(appended);
        }
      },
      async claim(accountId, key, bodyDigest) {
        const claim = await claims.claim(accountId, key, bodyDigest);
        if (claim.answer !== undefined) return claim.answer;
        if (isReleased) claim.settle();
        else held.set(nameOf(key), claim);
        return undefined;
      },
      settle: (key) => settle(nameOf(key)),
      async takeQuota(buckets, events) {
        const isTaken = await quota.take(buckets, events);
        return { isTaken, levels: buckets.map((bucket) => quota.level(bucket)) };
      },
      giveBackQuota: (buckets, events) => quota.giveBack(buckets, events),
      missing: () => parts.missing(),
      findToken: (digest) => directory.findToken(digest),
      findReceiver: (receiverId) => directory.findReceiver(receiverId),
      listStreams: (accountId) => directory.listStreams(accountId),
      noteTokensUsed: (usedAtMs) => directory.noteTokensUsed(usedAtMs),
      addStatistics: (addition) => directory.addStatistics(addition),
      findStatistics: (receiverId, span) => directory.findStatistics(receiverId, span),
      pruneStatistics: (beforeMinute) => directory.pruneStatistics(beforeMinute),
    },
    async release() {
      // A retry of a request whose append is pending must find the answer of that append.
      await Promise.allSettled(pending);
      isReleased = true;
      for (const name of held.keys()) settle(name);
    },
  };
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}
