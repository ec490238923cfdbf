/** What exports of logs say of themselves. */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

/** `left`: its reader went away before the end. */
export type ExportOutcome = 'finished' | 'left' | 'failed';

export interface ExportEvents {
  began(): void;
  /** Of one step. */
  logsExported(format: string, logs: number): void;
  ended(outcome: ExportOutcome, ended: { format: string; logs: number; seconds: number }): void;
  /** An export broke off, or could not begin. */
  failed(error: Error): void;
  /** A ticket brought nothing, and cannot be used again either. */
  ticketNotReturned(error: unknown): void;
}

export function createExportEvents({ log, metrics }: Instruments): ExportEvents {
  const registers = [metrics];
  const running = new Gauge({
    name: 'weir_exports_running',
    help: 'Exports of logs under way',
    registers,
  });
  const exported = new Counter({
    name: 'weir_exported_logs_total',
    help: 'Logs read for exports',
    labelNames: ['format'],
    registers,
  });
  const exports = new Counter({
    name: 'weir_exports_total',
    help: 'Exports of logs by outcome: finished, left by their reader, or failed',
    labelNames: ['outcome'],
    registers,
  });
  return {
    began() {
      running.inc();
    },
    logsExported(format, logs) {
      exported.inc({ format }, logs);
    },
    ended(outcome, ended) {
      running.dec();
      exports.inc({ outcome });
      log.debug({ outcome, ...ended }, 'export ended');
    },
    failed(error) {
      log.warn({ err: error }, 'cannot export');
    },
    ticketNotReturned(error) {
      log.warn({ err: error }, 'cannot make the ticket of an export good again; it is lost');
    },
  };
}
