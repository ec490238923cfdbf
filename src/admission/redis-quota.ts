/**
 * The quota store of many gateways: levels in Redis or Valkey, one atomic script a charge. What is
 * not limited never comes here.
 */
import { AppError } from '../model/errors.ts';
import type { QuotaEvents } from '../telemetry/request-events.ts';
import { createKnownLevels } from './known-levels.ts';
import type { Bucket, QuotaStore } from './port.ts';
import { parseRedisUrl } from './redis-address.ts';
import { isDenied, RedisFailure } from './redis-connection.ts';
import { openRedisLink, type RedisLink } from './redis-link.ts';
import { quotaScript } from './redis-script.ts';

export interface RedisQuotaOptions {
  /** `redis://` or `rediss://`; several are nodes of one cluster. */
  readonly urls: readonly string[];
  readonly topology: 'single' | 'cluster';
  /** Before what an address says. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** PEM of an authority to trust besides those that Node brings. */
  readonly ca: string | undefined;
  /** Longest a charge may take. */
  readonly timeoutMs: number;
}

export interface RedisQuota extends QuotaStore {
  /** Waits for charges and refunds under way, no longer than they may take. */
  close(): Promise<void>;
}

/** Connecting takes several round trips, and nobody waits for it but the start. */
const leastConnectTimeoutMs = 1_000;
const maxPending = 10_000;
/** A level is believed for so long: what others did to it since shows up with the next charge. */
const knownLevels = { maxLevels: 10_000, maxAgeMs: 5_000 };

/**
 * Opens where no server answers, too, and connects when one does.
 * @throws Error in words for the operator when an address cannot be used, or its server refuses
 *   user or password: no waiting mends that
 */
export async function openRedisQuota(
  options: RedisQuotaOptions,
  events: QuotaEvents,
): Promise<RedisQuota> {
  const link = await openLink(options, events);
  const known = createKnownLevels(knownLevels, () => performance.now());

  /** @returns whether the events were taken. @throws RedisFailure */
  async function change(buckets: readonly Bucket[], count: number): Promise<boolean> {
    const startMs = performance.now();
    const limits = buckets.flatMap(({ eventsPerSecond, burstEvents }) => [
      String(eventsPerSecond),
      String(burstEvents),
    ]);
    const [taken, ...levels] = await link.run(buckets.map(toKey), [String(count), ...limits]);
    events.answered((performance.now() - startMs) / 1000);
    for (const [i, bucket] of buckets.entries()) known.note(bucket, Number(levels[i]));
    return taken === 1;
  }

  return {
    level: (bucket) => known.level(bucket),

    take(buckets, count) {
      return change(buckets, count).catch((error: unknown) => {
        if (!(error instanceof RedisFailure)) throw error;
        events.chargeFailed(error.kind);
        throw new AppError(
          'unavailable',
          'cannot take events now: whether the limit allows them cannot be told',
          { retryAfterSeconds: 2, cause: error },
        );
      });
    },

    giveBack(buckets, count) {
      change(buckets, -count).catch((error: unknown) => {
        events.refundFailed(error instanceof RedisFailure ? error.kind : 'internal');
      });
    },

    close: () => link.close(),
  };
}

async function openLink(options: RedisQuotaOptions, events: QuotaEvents): Promise<RedisLink> {
  const { urls, topology, timeoutMs } = options;
  const [first, ...others] = urls.map(parseRedisUrl);
  if (first === undefined || (topology === 'single' && others.length > 0)) {
    throw new Error(
      `cannot use ${urls.length} addresses of the quota store: give one in quota.urls, or set ` +
        'quota.topology to cluster',
    );
  }
  const addresses = [first, ...others] as const;
  const connectTimeoutMs = Math.max(leastConnectTimeoutMs, timeoutMs);
  try {
    return await openRedisLink(
      { ...options, addresses, connectTimeoutMs, maxPending },
      { script: quotaScript, events },
    );
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new Error(
      `cannot use the quota store at ${first.host}:${first.port}: it says "${error.message}"; ` +
        'check quota.user, quota.password and what is given in quota.urls',
      { cause: error },
    );
  }
}

/** The account in braces is what a cluster chooses the node by. */
function toKey({ accountId, policy, owner }: Bucket): string {
  return `weir:quota:{${accountId}}:${policy}:${owner}`;
}
