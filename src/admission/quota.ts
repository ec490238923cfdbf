/**
 * Quotas on events per second as token buckets. A bucket may go into debt, so that a batch larger
 * than the burst is accepted and paid off afterwards.
 */
import type { ReceiverGrant } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { RateLimit } from '../model/request.ts';
import type { Bucket, Charge, QuotaStore } from './port.ts';

const defaultBurstSeconds = 10;
const unlimited: Charge = { rateLimit: undefined, refund: () => {} };

function bucketsOf({ receiver, accountEventsPerSecond }: ReceiverGrant): Bucket[] {
  const { receiverId, accountId, limits } = receiver;
  const buckets: Bucket[] = [];
  const add = (
    bucket: Pick<Bucket, 'policy' | 'owner' | 'eventsPerSecond'>,
    burstEvents = bucket.eventsPerSecond * defaultBurstSeconds,
  ) => buckets.push({ ...bucket, accountId, burstEvents });
  if (limits.eventsPerSecond !== null) {
    const { eventsPerSecond, burstEvents } = limits;
    add({ policy: 'receiver', owner: receiverId, eventsPerSecond }, burstEvents ?? undefined);
  }
  if (accountEventsPerSecond !== null) {
    const eventsPerSecond = accountEventsPerSecond;
    add({ policy: 'account', owner: accountId, eventsPerSecond });
  }
  return buckets;
}

/** @throws AppError `quota_exceeded` while a bucket is known to be empty */
export function checkDebt(store: QuotaStore, grant: ReceiverGrant): void {
  const buckets = bucketsOf(grant);
  for (const bucket of buckets) {
    if (store.level(bucket) <= 0) throw exceeded(store, buckets, bucket);
  }
}

/** @throws AppError `quota_exceeded` | `unavailable` */
export async function chargeEvents(
  store: QuotaStore,
  grant: ReceiverGrant,
  events: number,
): Promise<Charge> {
  const buckets = bucketsOf(grant);
  if (buckets.length === 0) return unlimited;
  if (events > 0 && !(await store.take(buckets, events))) {
    const empty = buckets.find((bucket) => store.level(bucket) <= 0) ?? buckets[0];
    if (empty !== undefined) throw exceeded(store, buckets, empty);
  }
  const rateLimit = rateLimitOf(store, buckets);
  return { rateLimit, refund: () => store.giveBack(buckets, events) };
}

function exceeded(store: QuotaStore, buckets: readonly Bucket[], empty: Bucket): AppError {
  return new AppError(
    'quota_exceeded',
    `cannot accept more events now: the ${empty.policy} limit of ` +
      `${empty.eventsPerSecond} events per second is used up`,
    {
      // Prometheus and OpenTelemetry senders give up on a long Retry-After.
      retryAfterSeconds: Math.min(5, Math.max(1, secondsToAvailable(store, empty))),
      rateLimit: rateLimitOf(store, buckets),
    },
  );
}

/**
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/: q over w is the burst.
 */
function rateLimitOf(store: QuotaStore, buckets: readonly Bucket[]): RateLimit {
  const policy = buckets.map(({ policy: name, burstEvents, eventsPerSecond }) => {
    const window = eventsPerSecond > 0 ? Math.max(1, Math.ceil(burstEvents / eventsPerSecond)) : 1;
    return `"${name}";q=${Math.floor(burstEvents)};w=${window}`;
  });
  const state = buckets.map((bucket) => {
    const remaining = Math.max(0, Math.floor(store.level(bucket)));
    return `"${bucket.policy}";r=${remaining};t=${secondsToAvailable(store, bucket)}`;
  });
  return { policy: policy.join(', '), state: state.join(', ') };
}

/** Whole seconds until the bucket accepts events; an hour if it never refills. */
function secondsToAvailable(store: QuotaStore, bucket: Bucket): number {
  const level = store.level(bucket);
  if (level > 0) return 0;
  if (bucket.eventsPerSecond <= 0) return 3600;
  return Math.max(1, Math.ceil(-level / bucket.eventsPerSecond));
}
