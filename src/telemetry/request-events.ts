/**
 * Events of requests: listeners, ingest, quotas, live tails and exports. No event contains a token,
 * a body or a query.
 */
import { type Batch, countEvents } from '../model/batch.ts';
import type { AppError, ErrorCode } from '../model/errors.ts';
import { type Instruments, registerMetrics } from './instruments.ts';
import { exportMetrics, httpMetrics, ingestMetrics, quotaMetrics, tailMetrics } from './metrics.ts';

export type Surface = 'ingest' | 'stream' | 'ops';

/**
 * `cap`: too many connections; `address`: too many from one address; `resets`: too many cancelled
 * requests; `overhead`: too many bytes besides requests and their bodies.
 */
export type CutReason = 'parse' | 'tls' | 'cap' | 'timeout' | 'address' | 'resets' | 'overhead';

/** Minimum time between log lines about refused addresses; the counter includes all of them. */
const addressLineMs = 60_000;

export type HttpEvents = ReturnType<typeof createHttpEvents>;

export function createHttpEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, httpMetrics);
  let nextAddressLineMs = 0;
  return {
    /** @param route the pattern of the route, never the requested path */
    answered: (surface: Surface, route: string, status: number, seconds: number) =>
      metrics.weir_http_request_duration_seconds.observe(seconds, { surface, route, status }),
    /** Logs the cause, which the sender must not see. */
    failed(surface: Surface, requestId: string, error: AppError) {
      const level = error.kind.logLevel;
      if (!log.isLevelEnabled(level)) return;
      const fields = { surface, requestId, code: error.code, err: error.cause };
      log[level](fields, `request failed: ${error.message}`);
    },
    connectionCut: (surface: Surface, reason: Exclude<CutReason, 'address'>) =>
      metrics.weir_http_connections_cut_total.inc({ surface, reason }),
    /** A connection was closed at once: its address has or opens too many, or is no proxy. */
    addressRefused(surface: Surface, kind: 'tls' | 'plain', address: string) {
      metrics.weir_http_connections_cut_total.inc({ surface, reason: 'address' });
      const nowMs = performance.now();
      if (nowMs < nextAddressLineMs) return;
      nextAddressLineMs = nowMs + addressLineMs;
      if (kind === 'plain') {
        const reason = 'it is neither loopback nor in ingest.trustedProxies';
        return log.warn({ surface, address }, `closing connections to the plain port: ${reason}`);
      }
      const limits = 'ingest.maxConnectionsPerAddress or ingest.newConnectionsPerSecond';
      log.warn({ surface, address }, `closing connections of an address over ${limits}`);
    },
    authenticationFailed: (surface: Surface, answer: 'at once' | 'delayed' | 'cut') =>
      metrics.weir_http_authentication_failures_total.inc({ surface, answer }),
    certificateLoaded(subject: string, expiresAt: string) {
      const seconds = Date.parse(expiresAt) / 1000;
      metrics.weir_tls_certificate_expires_timestamp_seconds.set(seconds);
      log.info({ subject, expiresAt }, 'certificate loaded');
    },
    certificateRefused: (reason: unknown) =>
      log.error({ err: reason }, 'cannot load the certificate: the former one stays in use'),
    /** A file of the local certificate authority was unreadable and has been replaced. */
    certificateDamaged(file: string, reason: unknown) {
      log.error(
        { file, err: reason },
        'replaced a damaged certificate; if it was the authority, trust the new ca.pem',
      );
    },
  };
}

type AcceptedBatch = Pick<Batch, 'rows' | 'written' | 'rejectedByReason' | 'warnings'>;

/** Gauges, read at each scrape. */
export interface IngestLevels {
  /** Estimated heap bytes of requests in flight. */
  readonly memoryInFlight: () => number;
  /** Series whose labels are known to be durable. */
  readonly knownSeries: () => number;
}

export type IngestEvents = ReturnType<typeof createIngestEvents>;

/** Refusals are counted and not logged: a sender could fill the log with them. */
export function createIngestEvents({ metrics: registry }: Instruments, levels: IngestLevels) {
  const metrics = registerMetrics(registry, ingestMetrics, {
    weir_ingest_in_flight_bytes: levels.memoryInFlight,
    weir_ingest_known_series: levels.knownSeries,
  });
  const requests = metrics.weir_ingest_requests_total;
  return {
    /** All events of the request that are not rejected are durable. */
    accepted(protocol: string, bodyBytes: number, batch: AcceptedBatch) {
      requests.inc({ protocol, outcome: 'accepted' });
      metrics.weir_ingest_events_accepted_total.inc({ protocol }, countEvents(batch));
      metrics.weir_ingest_body_bytes_total.inc({ protocol }, bodyBytes);
      for (const [reason, count] of batch.rejectedByReason) {
        metrics.weir_ingest_events_rejected_total.inc({ protocol, reason }, count);
      }
      for (const [warning, count] of batch.warnings ?? []) {
        metrics.weir_ingest_warnings_total.inc({ protocol, warning }, count);
      }
    },
    /** A repeated request got the receipt of the first one. */
    replayed: (protocol: string) => requests.inc({ protocol, outcome: 'replayed' }),
    refused: (protocol: string, code: ErrorCode) => requests.inc({ protocol, outcome: code }),
  };
}

export type QuotaEvents = ReturnType<typeof createQuotaEvents>;

/** Events of the quota store that gateways share. An outage is logged once. */
export function createQuotaEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, quotaMetrics);
  let isLost = false;
  let isDenied = false;
  return {
    answered: (seconds: number) => metrics.weir_quota_store_seconds.observe(seconds),
    /** The request of the charge is refused. */
    chargeFailed: (kind: string) =>
      metrics.weir_quota_store_failures_total.inc({ work: 'charge', kind }),
    /** Events that were not kept stay charged. */
    refundFailed: (kind: string) =>
      metrics.weir_quota_store_failures_total.inc({ work: 'refund', kind }),
    /** A connection broke, or connecting failed. */
    storeLost(error: unknown) {
      metrics.weir_quota_store_connected.set(0);
      const level = isLost ? 'debug' : 'error';
      log[level]({ err: error }, 'quota store does not answer; receivers with quotas get 503');
      isLost = true;
    },
    storeDenied(error: unknown) {
      metrics.weir_quota_store_connected.set(0);
      const level = isDenied ? 'debug' : 'error';
      log[level](
        { err: error },
        'quota store refuses quota.user, quota.password or their permissions; ' +
          'receivers with quotas get 503',
      );
      isLost = true;
      isDenied = true;
    },
    storeFound() {
      metrics.weir_quota_store_connected.set(1);
      if (isLost) log.info('quota store answers again');
      isLost = false;
      isDenied = false;
    },
  };
}

export type TailEvents = ReturnType<typeof createTailEvents>;

export function createTailEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, tailMetrics);
  return {
    opened: () => metrics.weir_tails_open.inc(),
    closed: () => metrics.weir_tails_open.dec(),
    sent: (logs: number) => metrics.weir_tail_logs_sent_total.inc(logs),
    dropped: (logs: number) => metrics.weir_tail_logs_dropped_total.inc(logs),
    failed({ code, kind, cause, message }: AppError) {
      metrics.weir_tail_failures_total.inc({ code });
      log[kind.logLevel]({ code, err: cause }, `tail failed: ${message}`);
    },
  };
}

/** `left`: the reader disconnected before the end. */
export type ExportOutcome = 'finished' | 'left' | 'failed';

export type ExportEvents = ReturnType<typeof createExportEvents>;

export function createExportEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, exportMetrics);
  return {
    began: () => metrics.weir_exports_running.inc(),
    logsExported: (format: string, logs: number) =>
      metrics.weir_exported_logs_total.inc({ format }, logs),
    ended(outcome: ExportOutcome, ended: { format: string; logs: number; seconds: number }) {
      metrics.weir_exports_running.dec();
      metrics.weir_exports_total.inc({ outcome });
      log.debug({ outcome, ...ended }, 'export ended');
    },
    failed: (error: Error) => log.warn({ err: error }, 'cannot export'),
    /** The export failed, and its ticket could not be made valid again. */
    ticketRestoreFailed: (error: unknown) =>
      log.warn({ err: error }, 'cannot restore the ticket of a failed export'),
  };
}
