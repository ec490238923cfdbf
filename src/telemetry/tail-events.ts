/** What the live tail tells of itself: how many follow, and what they were sent and were not. */
import { Counter, Gauge } from 'prom-client';
import type { AppError } from '../model/errors.ts';
import type { Instruments } from './instruments.ts';

export type TailTelemetry = ReturnType<typeof createTailTelemetry>;

export function createTailTelemetry({ log, metrics }: Instruments) {
  const registers = [metrics];
  const open = new Gauge({ name: 'weir_tails_open', help: 'Live tails under way', registers });
  const sent = new Counter({
    name: 'weir_tail_logs_sent_total',
    help: 'Logs sent to live tails',
    registers,
  });
  const dropped = new Counter({
    name: 'weir_tail_logs_dropped_total',
    help: 'Logs left out of live tails because their readers were too far behind',
    registers,
  });
  const failures = new Counter({
    name: 'weir_tail_failures_total',
    help: 'Live tails that ended with an error, by code',
    labelNames: ['code'],
    registers,
  });

  return {
    opened(): void {
      open.inc();
    },
    closed(): void {
      open.dec();
    },
    sent(logs: number): void {
      sent.inc(logs);
    },
    dropped(logs: number): void {
      dropped.inc(logs);
    },
    failed(error: AppError): void {
      const { code, kind, cause, message } = error;
      failures.inc({ code });
      log[kind.logLevel]({ code, err: cause }, `tail failed: ${message}`);
    },
  };
}
