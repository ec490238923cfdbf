/** What happens to the worker processes and to the connections they are handed. */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

export interface WorkerEvents {
  workerReady(worker: number, pid: number, millis: number): void;
  /** It ended although nobody asked it to; another one is started. */
  workerEnded(worker: number, pid: number, how: string): void;
  workerNotStarted(worker: number, error: unknown, retryMillis: number): void;
  /** It did not end in time when it was asked to, and is killed. */
  workerKilled(worker: number, pid: number): void;
  /** It has answered nothing for long, and is killed. */
  workerHung(worker: number, pid: number): void;
  /** A connection was closed at once: there are too many, or no worker runs. */
  connectionRefused(reason: 'cap' | 'no_worker'): void;
}

/** Asked at each scrape. */
export interface WorkerLevels {
  /** Workers that take connections. */
  readonly running: () => number;
  /** Of all of them. */
  readonly connections: () => number;
}

export function createWorkerEvents(
  { log, metrics }: Instruments,
  levels: WorkerLevels,
): WorkerEvents {
  const registers = [metrics];
  new Gauge({
    name: 'weir_workers_running',
    help: 'Worker processes that take connections',
    registers,
    collect() {
      this.set(levels.running());
    },
  });
  new Gauge({
    name: 'weir_workers_connections',
    help: 'Connections that workers were handed and that have not ended',
    registers,
    collect() {
      this.set(levels.connections());
    },
  });
  const ends = new Counter({
    name: 'weir_worker_ends_total',
    help: 'Worker processes that ended although nobody asked them to, and were replaced',
    registers,
  });
  const failedStarts = new Counter({
    name: 'weir_worker_failed_starts_total',
    help: 'Starts of worker processes that did not get to taking connections',
    registers,
  });
  const refused = new Counter({
    name: 'weir_worker_connections_refused_total',
    help: 'Connections closed at once, by reason: too many, or no worker that runs',
    labelNames: ['reason'] as const,
    registers,
  });

  return {
    workerReady(worker, pid, millis) {
      log.info({ worker, workerPid: pid, millis }, 'worker is ready');
    },
    workerEnded(worker, pid, how) {
      ends.inc();
      log.error({ worker, workerPid: pid, how }, 'worker ended; starting another');
    },
    workerNotStarted(worker, error, retryMillis) {
      failedStarts.inc();
      log.error({ worker, err: error, retryMillis }, 'cannot start a worker; trying again');
    },
    workerKilled(worker, pid) {
      log.error({ worker, workerPid: pid }, 'worker did not end in time; killing it');
    },
    workerHung(worker, pid) {
      log.error({ worker, workerPid: pid }, 'worker answers nothing any more; killing it');
    },
    connectionRefused(reason) {
      refused.inc({ reason });
    },
  };
}
