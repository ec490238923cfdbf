/** Makes what takes events in, of a process alone or of one of many workers. It opens nothing. */
import { createAdmission } from '../admission/admission.ts';
import type { Admission, QuotaStore } from '../admission/port.ts';
import type { Config } from '../config/schema.ts';
import type { CachedGrants } from '../directory/grants.ts';
import { createIngest, type Ingest } from '../ingest/ingest.ts';
import type { Claims } from '../ingest/ingest-replay.ts';
import type { IngestStatistics } from '../ingest/receiver-statistics.ts';
import { createSeriesLedger } from '../ingest/series-ledger.ts';
import * as options from './options.ts';
import type { Queue } from '../queue/port.ts';
import { createIngestEvents, type IngestEvents } from '../telemetry/ingest-events.ts';
import type { Instruments } from '../telemetry/instruments.ts';

export interface GatewayParts {
  readonly grants: CachedGrants;
  readonly quota: QuotaStore;
  readonly queue: Pick<Queue, 'append'>;
  readonly claims: Claims;
  readonly statistics: IngestStatistics;
  readonly instruments: Instruments;
}

export interface Gateway {
  readonly admission: Admission;
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
  /** Labels of series that were written may be gone. */
  forgetSeries(): void;
}

/** @param share how much of what a machine may hold in memory is this process's. */
export function createGateway(config: Config, parts: GatewayParts, share = 1): Gateway {
  const { grants, quota, queue, claims, statistics, instruments } = parts;
  const admissionOptions = options.toAdmissionOptions(config);
  const maxInFlightBytes = Math.floor(admissionOptions.maxInFlightBytes * share);
  const admission = createAdmission({ ...admissionOptions, maxInFlightBytes }, grants, quota);
  const series = createSeriesLedger(config.metrics);
  const events = createIngestEvents(instruments, {
    memoryInFlight: () => admission.memoryInFlight(),
    knownSeries: () => series.size(),
  });
  const now = Date.now;
  const ingest = createIngest({ admission, queue, claims, series, events, statistics, now });
  return { admission, ingest, ingestEvents: events, forgetSeries: () => series.forget() };
}
