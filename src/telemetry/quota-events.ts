/** What happens between a gateway and the store of quotas that it shares with others. */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Instruments } from './instruments.ts';

export interface QuotaEvents {
  /** One charge or refund was answered. */
  answered(seconds: number): void;
  /** A charge got no answer: its request is refused. `kind` is one of a few. */
  chargeFailed(kind: string): void;
  /** Events that were not kept stay charged. */
  refundFailed(kind: string): void;
  /** A connection could not be made or broke; the next is tried soon. */
  storeLost(error: unknown): void;
  /** The same, since the server does not let this gateway in. */
  storeDenied(error: unknown): void;
  storeFound(): void;
}

export function createQuotaEvents({ log, metrics }: Instruments): QuotaEvents {
  const registers = [metrics];
  const seconds = new Histogram({
    name: 'weir_quota_store_seconds',
    help: 'Time of one charge or refund at the shared quota store',
    buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  });
  const failures = new Counter({
    name: 'weir_quota_store_failures_total',
    help: 'Charges and refunds that the shared quota store did not take, by kind of failure',
    labelNames: ['work', 'kind'] as const,
    registers,
  });
  const connected = new Gauge({
    name: 'weir_quota_store_connected',
    help: 'Whether this gateway is connected to the shared quota store',
    registers,
  });
  let isLost = false;
  let isDenied = false;
  return {
    answered: (taken) => seconds.observe(taken),
    chargeFailed: (kind) => failures.inc({ work: 'charge', kind }),
    refundFailed: (kind) => failures.inc({ work: 'refund', kind }),
    storeLost(error) {
      connected.set(0);
      // Once for an outage, however often it is tried.
      const level = isLost ? 'debug' : 'error';
      log[level]({ err: error }, 'quota store does not answer; receivers with quotas get 503');
      isLost = true;
    },
    storeDenied(error) {
      connected.set(0);
      const level = isDenied ? 'debug' : 'error';
      log[level](
        { err: error },
        'quota store refuses quota.user, quota.password or what they may do; ' +
          'receivers with quotas get 503',
      );
      isLost = true;
      isDenied = true;
    },
    storeFound() {
      connected.set(1);
      if (isLost) log.info('quota store answers again');
      isLost = false;
      isDenied = false;
    },
  };
}
