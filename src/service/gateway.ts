/** Builds the ingest side of a process: quotas, admission, and the pipeline of a request. */
import { createAdmission } from '../admission/admission.ts';
import { createMemoryQuota } from '../admission/memory-quota.ts';
import type { Admission, QuotaStore } from '../admission/port.ts';
import { openRedisQuota } from '../admission/redis-quota.ts';
import { rolesOf } from '../config/roles.ts';
import type { CachedGrants } from '../directory/grants.ts';
import { createIngest, type Ingest } from '../ingest/ingest.ts';
import type { Claims } from '../ingest/ingest-replay.ts';
import type { IngestStatistics } from '../ingest/receiver-statistics.ts';
import { createSeriesLedger } from '../ingest/series-ledger.ts';
import type { Queue } from '../queue/port.ts';
import {
  createIngestEvents,
  createQuotaEvents,
  type IngestEvents,
} from '../telemetry/request-events.ts';
import { collectAfterBursts } from './garbage.ts';
import type { Opening } from './opening.ts';
import { readAuthority } from './read-authority.ts';

export interface GatewayParts {
  readonly grants: CachedGrants;
  readonly quota: QuotaStore;
  readonly queue: Pick<Queue, 'append'>;
  readonly claims: Claims;
  readonly statistics: IngestStatistics;
}

export interface Gateway {
  readonly admission: Admission;
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
  /** Writes the labels of every series again: those in the store may have been deleted. */
  forgetSeries(): void;
}

/** Share of the cap on memory in flight that a few small requests take. */
const quietShare = 1 / 16;

/** @param share this process's share of the machine's memory in flight, 0 to 1. */
export function createGateway(
  { config, instruments, parts }: Opening,
  { grants, quota, queue, claims, statistics }: GatewayParts,
  share = 1,
): Gateway {
  const { trustedProxies, bodyTimeoutMs, minBodyBytesPerSecond } = config.ingest;
  const maxInFlightBytes = Math.floor(config.ingest.maxInFlightBytes * share);
  const admission = createAdmission(
    {
      maxInFlightBytes,
      trustedProxies,
      bodyPace: {
        timeoutMs: bodyTimeoutMs,
        graceMs: 10_000,
        minBytesPerSecond: minBodyBytesPerSecond,
      },
    },
    grants,
    quota,
  );
  const memoryInFlight = () => admission.memoryInFlight();
  parts.use(collectAfterBursts({ memoryInFlight, quietBytes: maxInFlightBytes * quietShare }));
  const series = createSeriesLedger(config.metrics);
  const events = createIngestEvents(instruments, {
    memoryInFlight,
    knownSeries: () => series.size(),
  });
  const now = Date.now;
  const ingest = createIngest({ admission, queue, claims, series, events, statistics, now });
  return { admission, ingest, ingestEvents: events, forgetSeries: () => series.forget() };
}

/**
 * Quota levels in the memory of this process, or in Redis for all gateways.
 * @throws Error when the CA file cannot be read
 */
export async function openQuota({ config, parts, instruments }: Opening): Promise<QuotaStore> {
  const { urls, topology, user, password, caFile, timeoutMs } = config.quota;
  if (urls.length === 0 || !rolesOf(config).has('gateway')) {
    return createMemoryQuota(() => performance.now());
  }
  const options = {
    urls,
    topology,
    user: user || undefined,
    password: password || undefined,
    ca: readAuthority('quota.caFile', caFile),
    timeoutMs,
  };
  return parts.own(await openRedisQuota(options, createQuotaEvents(instruments)));
}
