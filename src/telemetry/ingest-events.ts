/**
 * What happens to requests that bring data, as metrics; refusals are counted, never logged one by
 * one.
 */
import { Counter, Gauge } from 'prom-client';
import { type Batch, countEvents } from '../model/batch.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { Instruments } from './instruments.ts';

type AcceptedBatch = Pick<Batch, 'rows' | 'written' | 'rejectedByReason' | 'warnings'>;

export interface IngestEvents {
  /** A request was taken: everything in it that could be taken is durable. */
  accepted(protocol: string, bodyBytes: number, batch: AcceptedBatch): void;
  /** A repeated request got the answer of the first one. */
  replayed(protocol: string): void;
  /** A request was refused as a whole. */
  refused(protocol: string, code: ErrorCode): void;
}

/** Asked at each scrape. */
export interface IngestLevels {
  /** Estimated heap of the requests being worked on. */
  readonly memoryInFlight: () => number;
  /** Series whose labels are known to be durable. */
  readonly knownSeries: () => number;
}

export function createIngestEvents({ metrics }: Instruments, levels: IngestLevels): IngestEvents {
  const registers = [metrics];
  const labelNames = ['protocol'] as const;
  const requests = new Counter({
    name: 'weir_ingest_requests_total',
    help: 'Ingest requests by outcome: accepted, replayed, or the code of the refusal',
    labelNames: ['protocol', 'outcome'] as const,
    registers,
  });
  const acceptedEvents = new Counter({
    name: 'weir_ingest_events_accepted_total',
    help: 'Events acknowledged after they were durable',
    labelNames,
    registers,
  });
  const rejectedEvents = new Counter({
    name: 'weir_ingest_events_rejected_total',
    help: 'Events refused one by one in requests that were otherwise taken',
    labelNames: ['protocol', 'reason'] as const,
    registers,
  });
  const warnings = new Counter({
    name: 'weir_ingest_warnings_total',
    help: 'Records taken, but not quite as they were sent',
    labelNames: ['protocol', 'warning'] as const,
    registers,
  });
  const bodyBytesTaken = new Counter({
    name: 'weir_ingest_body_bytes_total',
    help: 'Body bytes of accepted requests, inflated',
    labelNames,
    registers,
  });
  new Gauge({
    name: 'weir_ingest_in_flight_bytes',
    help: 'Estimated heap of the ingest requests being worked on',
    registers,
    collect() {
      this.set(levels.memoryInFlight());
    },
  });
  new Gauge({
    name: 'weir_ingest_known_series',
    help: 'Series of today whose labels are durable; samples of others bring their labels along',
    registers,
    collect() {
      this.set(levels.knownSeries());
    },
  });

  return {
    accepted(protocol, bodyBytes, batch) {
      requests.inc({ protocol, outcome: 'accepted' });
      acceptedEvents.inc({ protocol }, countEvents(batch));
      bodyBytesTaken.inc({ protocol }, bodyBytes);
      for (const [reason, count] of batch.rejectedByReason) {
        rejectedEvents.inc({ protocol, reason }, count);
      }
      for (const [warning, count] of batch.warnings ?? []) {
        warnings.inc({ protocol, warning }, count);
      }
    },
    replayed(protocol) {
      requests.inc({ protocol, outcome: 'replayed' });
    },
    refused(protocol, code) {
      requests.inc({ protocol, outcome: code });
    },
  };
}
