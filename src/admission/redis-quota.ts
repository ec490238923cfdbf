/** The quota store of several gateways: levels in Redis or Valkey, one atomic script per charge. */
import { AppError } from '../model/errors.ts';
import type { QuotaEvents } from '../telemetry/request-events.ts';
import { createKnownLevels } from './known-levels.ts';
import type { Bucket, QuotaStore } from './port.ts';
import {
  isDenied,
  parseRedisUrl,
  type RedisConnectionOptions,
  RedisFailure,
} from './redis-connection.ts';
import { openRedisLink, type RedisLink } from './redis-link.ts';

/** User and password take precedence over those of a URL. */
export interface RedisQuotaOptions
  extends Pick<RedisConnectionOptions, 'topology' | 'user' | 'password' | 'ca'> {
  /** `redis://` or `rediss://`; several URLs are nodes of one cluster. */
  readonly urls: readonly string[];
  /** Timeout of a charge. */
  readonly timeoutMs: number;
}

export interface RedisQuota extends QuotaStore {
  /** Waits for charges and refunds in flight, up to their timeout. */
  close(): Promise<void>;
}

/** Connecting takes several round trips. Only the start waits for it. */
const leastConnectTimeoutMs = 1_000;
const maxPending = 10_000;
/** Levels are cached this long; each charge refreshes them. */
const knownLevels = { maxLevels: 10_000, maxAgeMs: 5_000 };

/**
 * Opens even if no server is reachable, and connects later.
 * @throws Error for an unusable address, or if the server refuses user or password
 */
export async function openRedisQuota(
  options: RedisQuotaOptions,
  events: QuotaEvents,
): Promise<RedisQuota> {
  const link = await openLink(options, events);
  const known = createKnownLevels(knownLevels, () => performance.now());

  /** @returns whether the events were charged. @throws RedisFailure */
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
          'cannot accept events now: the quota store does not answer',
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

/** The account is in braces: a cluster chooses the node by this part of the key. */
function toKey({ accountId, policy, owner }: Bucket): string {
  return `weir:quota:{${accountId}}:${policy}:${owner}`;
}

/**
 * The algorithm of `memory-quota.ts` for all buckets of a charge at once, on the server's clock.
 * KEYS: the buckets, all in one hash slot. ARGV: the events to charge (negative to refund), then
 * rate and burst of each bucket. Returns `[1 | 0 for charged, level, …]` with levels as text,
 * because Redis truncates numbers. A key holds `<level> <Unix µs>` and expires when its bucket is
 * full, as unknown buckets are full.
 */
const quotaScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local events = tonumber(ARGV[1])
local answer = {1}
local levels = {}
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local level = burst
  local was, at = string.match(redis.call('GET', key) or '', '^(%S+) (%d+)$')
  if at then
    level = math.min(burst, was + rate * math.max(0, now - at) / 1000000)
  end
  if events >= 0 and level <= 0 then answer[1] = 0 end
  levels[i] = level
end
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local level = levels[i]
  if answer[1] == 1 then level = math.min(burst, level - events) end
  if level >= burst then
    redis.call('DEL', key)
  else
    local year = 365 * 24 * 3600 * 1000
    local full = math.min(year, math.ceil((burst - level) / rate * 1000) + 1)
    local kept = string.format('%.17g %.0f', level, now)
    redis.call('SET', key, kept, 'PX', string.format('%.0f', full))
  end
  answer[i + 1] = string.format('%.17g', level)
end
return answer
`;
