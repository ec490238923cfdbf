/**
 * Events of a node's directory, statistics, worker processes and data folder. No event contains a
 * secret or a digest.
 */
import { type Instruments, registerMetrics } from './instruments.ts';
import {
  directoryMetrics,
  sharedDirectoryMetrics,
  statisticsMetrics,
  workerMetrics,
} from './metrics.ts';

/** A change made through the control API, for the audit log. */
export interface AdminChange {
  /** Operation id of the route, such as `rotateToken`. */
  readonly operation: string;
  /** Public id of the token that authorized the change. */
  readonly tokenId: string;
  /** Undefined for changes outside of any account. */
  readonly accountId: string | undefined;
  /** Id of the changed resource. */
  readonly targetId: string;
}

export type DirectoryEvents = ReturnType<typeof createDirectoryEvents>;

export function createDirectoryEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, directoryMetrics);
  const failures = metrics.weir_directory_failures_total;
  let connected: ReturnType<typeof registerConnected> | undefined;
  const registerConnected = () =>
    registerMetrics(registry, sharedDirectoryMetrics).weir_directory_connected;
  return {
    directoryFailed(error: unknown) {
      failures.inc({ work: 'lookup' });
      log.error({ err: error }, 'directory does not answer; serving cached answers');
    },
    directoryRecovered: () => log.info('directory answers again'),
    directoryAwaited: (reason: string, secondsLeft: number) =>
      log.warn({ reason, secondsLeft }, 'waiting for the directory at PostgreSQL'),
    directoryReached: () => log.info('directory at PostgreSQL answers'),
    sharedDirectoryOpened() {
      connected = registerConnected();
      connected.set(1);
    },
    lastUsedWriteFailed(error: unknown) {
      failures.inc({ work: 'last_used' });
      log.warn({ err: error }, 'cannot write the last use of tokens; trying again');
    },
    /** Cached entries stay valid until they expire. */
    changeFeedLost(error: unknown) {
      connected?.set(0);
      failures.inc({ work: 'listen' });
      log.warn({ err: error }, 'cannot listen for changes of the directory; trying again');
    },
    changeFeedRestored() {
      connected?.set(1);
      log.info('listening for changes of the directory again');
    },
    singleSignOnFailed: (failure: string, reason: string) =>
      log.warn({ failure, reason }, 'single sign-on failed'),
    /** The stream is already deleted, so the deletion cannot be retried. */
    quarantineNotDropped: (streamId: string, error: unknown) =>
      log.warn(
        { streamId, err: error },
        'cannot delete the batches in quarantine of a deleted stream: use weir quarantine drop',
      ),
    adminChanged(change: AdminChange) {
      metrics.weir_admin_changes_total.inc({ operation: change.operation });
      log.info(change, 'control API change');
    },
  };
}

export type StatisticsEvents = ReturnType<typeof createStatisticsEvents>;

export function createStatisticsEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, statisticsMetrics);
  const dropped = metrics.weir_receiver_statistics_dropped_total;
  return {
    statisticsWriteFailed(error: unknown) {
      metrics.weir_receiver_statistics_failures_total.inc();
      log.warn({ err: error }, 'cannot write statistics of receivers; trying again');
    },
    /** @param minutes of counts */
    statisticsDropped(minutes: number, samples: number) {
      dropped.inc({ what: 'minutes' }, minutes);
      dropped.inc({ what: 'samples' }, samples);
    },
  };
}

/** Gauges, read at each scrape. */
export interface WorkerLevels {
  /** Workers that accept connections. */
  readonly running: () => number;
  /** Open connections of all workers. */
  readonly connections: () => number;
}

export type WorkerEvents = ReturnType<typeof createWorkerEvents>;

export function createWorkerEvents({ log, metrics: registry }: Instruments, levels: WorkerLevels) {
  const metrics = registerMetrics(registry, workerMetrics, {
    weir_workers_running: levels.running,
    weir_workers_connections: levels.connections,
  });
  return {
    workerReady: (worker: number, pid: number, millis: number) =>
      log.info({ worker, workerPid: pid, millis }, 'worker is ready'),
    /** Unexpected; a replacement is started. */
    workerEnded(worker: number, pid: number, how: string) {
      metrics.weir_worker_ends_total.inc();
      log.error({ worker, workerPid: pid, how }, 'worker ended; starting another');
    },
    workerNotStarted(worker: number, error: unknown, retryMillis: number) {
      metrics.weir_worker_failed_starts_total.inc();
      log.error({ worker, err: error, retryMillis }, 'cannot start a worker; trying again');
    },
    /** It exceeded the time limit of a graceful stop. */
    workerKilled: (worker: number, pid: number) =>
      log.error({ worker, workerPid: pid }, 'worker did not stop in time; killing it'),
    workerHung: (worker: number, pid: number) =>
      log.error({ worker, workerPid: pid }, 'worker does not respond; killing it'),
    connectionRefused: (reason: 'cap' | 'no_worker') =>
      metrics.weir_worker_connections_refused_total.inc({ reason }),
  };
}

export function createDataFolderEvents({ log }: Instruments) {
  return {
    lockReplaced: (directory: string) =>
      log.error({ directory }, 'replaced a damaged lock.db, which holds no data: check the disk'),
  };
}
