/**
 * What happens at the listeners: answers, failures, connections, certificates. Never a token, a
 * body or a query.
 */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { AppError } from '../model/errors.ts';
import type { Instruments } from './instruments.ts';

export type Surface = 'ingest' | 'stream' | 'ops';

/**
 * `cap`: too many connections; `address`: too many from its address; `resets`: too many requests
 * that it cancelled; `overhead`: too much besides requests and their bodies.
 */
export type CutReason = 'parse' | 'tls' | 'cap' | 'timeout' | 'address' | 'resets' | 'overhead';

export interface HttpEvents {
  /** @param route its pattern, never the path that was asked for */
  answered(surface: Surface, route: string, status: number, seconds: number): void;
  /** A request failed; the log gets what the sender must not see. */
  failed(surface: Surface, requestId: string, error: AppError): void;
  /** A connection was cut before or between requests, or for what came over it. */
  connectionCut(surface: Surface, reason: Exclude<CutReason, 'address'>): void;
  /** A connection was closed at once, since its address has too many or opens too many. */
  addressRefused(surface: Surface, address: string): void;
  /** A request had no token in force. @param pace how it is answered */
  authenticationFailed(surface: Surface, pace: 'at once' | 'delayed' | 'cut'): void;
  certificateLoaded(subject: string, expiresAt: string): void;
  certificateRefused(reason: unknown): void;
  /** A file of the local authority is empty, cut or no PEM, and is replaced. */
  certificateDamaged(file: string, reason: unknown): void;
}

/** So often at most a line names an address that is refused; the counter has all of them. */
const addressLineMs = 60_000;

export function createHttpEvents({ log, metrics }: Instruments): HttpEvents {
  let nextAddressLineMs = 0;
  const registers = [metrics];
  const durations = new Histogram({
    name: 'weir_http_request_duration_seconds',
    help: 'From the head of a request to its answer, by surface, route and status',
    labelNames: ['surface', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const cuts = new Counter({
    name: 'weir_http_connections_cut_total',
    help: 'Connections cut by Weir outside of a request, by reason',
    labelNames: ['surface', 'reason'] as const,
    registers,
  });
  const failedTokens = new Counter({
    name: 'weir_http_authentication_failures_total',
    help: 'Requests without a token in force, by how they were answered: at once, delayed, cut',
    labelNames: ['surface', 'answer'] as const,
    registers,
  });
  const certificateExpires = new Gauge({
    name: 'weir_tls_certificate_expires_timestamp_seconds',
    help: 'Until when the certificate in use is valid, as Unix time',
    registers,
  });

  return {
    answered(surface, route, status, seconds) {
      durations.observe({ surface, route, status }, seconds);
    },
    failed(surface, requestId, error) {
      const level = error.kind.logLevel;
      if (!log.isLevelEnabled(level)) return;
      const fields = { surface, requestId, code: error.code, err: error.cause };
      log[level](fields, `request failed: ${error.message}`);
    },
    connectionCut(surface, reason) {
      cuts.inc({ surface, reason });
    },
    addressRefused(surface, address) {
      cuts.inc({ surface, reason: 'address' });
      const nowMs = performance.now();
      if (nowMs < nextAddressLineMs) return;
      nextAddressLineMs = nowMs + addressLineMs;
      const limits = 'ingest.maxConnectionsPerAddress or ingest.newConnectionsPerSecond';
      log.warn({ surface, address }, `closing connections of an address over ${limits}`);
    },
    authenticationFailed(surface, answer) {
      failedTokens.inc({ surface, answer });
    },
    certificateLoaded(subject, expiresAt) {
      certificateExpires.set(Date.parse(expiresAt) / 1000);
      log.info({ subject, expiresAt }, 'certificate loaded');
    },
    certificateRefused(reason) {
      log.error({ err: reason }, 'cannot load the certificate: the former one stays in use');
    },
    certificateDamaged(file, reason) {
      log.error(
        { file, err: reason },
        'replaced a damaged certificate; if it was the authority, trust the new ca.pem',
      );
    },
  };
}
