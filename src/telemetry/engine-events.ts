/** What happens to the engine process, as log lines and metrics. */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

const mostPartsLogged = 20;

export interface EngineEvents {
  engineReady(pid: number, millis: number, clickhouseVersion: string): void;
  /** It ended although nobody asked it to. */
  engineEnded(pid: number, how: string): void;
  /** It is killed and started again on purpose. */
  engineRestarted(pid: number | undefined, reason: string): void;
  engineNotStarted(error: unknown, retryMillis: number): void;
  /** A line that the process wrote to standard error. */
  engineSaid(line: string): void;
  /** @param paths of parts that a full or failing disk had cut short */
  cutPartsRemoved(paths: readonly string[]): void;
  engineAnswered(residentBytes: number, fault: string | undefined): void;
  engineStopped(how: string): void;
}

export function createEngineEvents({ log, metrics }: Instruments): EngineEvents {
  const registers = [metrics];
  const up = new Gauge({
    name: 'weir_engine_up',
    help: '1 while the engine process serves queries',
    registers,
  });
  const restarts = new Counter({
    name: 'weir_engine_restarts_total',
    help: 'Starts of the engine process after the first one',
    labelNames: ['cause'],
    registers,
  });
  const failedStarts = new Counter({
    name: 'weir_engine_failed_starts_total',
    help: 'Starts of the engine process that did not get to serving queries',
    registers,
  });
  const resident = new Gauge({
    name: 'weir_engine_resident_bytes',
    help: 'Memory of the engine process that is in RAM',
    registers,
  });
  for (const cause of ['ended', 'asked']) restarts.inc({ cause }, 0);
  return {
    engineReady(pid, millis, clickhouseVersion) {
      up.set(1);
      log.info({ enginePid: pid, millis, clickhouseVersion }, 'engine is ready');
    },
    engineEnded(pid, how) {
      up.set(0);
      restarts.inc({ cause: 'ended' });
      log.error({ enginePid: pid, how }, 'engine ended; starting it again');
    },
    engineRestarted(pid, reason) {
      up.set(0);
      restarts.inc({ cause: 'asked' });
      log.warn({ enginePid: pid, reason }, 'killing the engine to start it again');
    },
    engineNotStarted(error, retryMillis) {
      failedStarts.inc();
      log.error({ err: error, retryMillis }, 'cannot start the engine; trying again');
    },
    engineSaid(line) {
      log.warn({ line }, 'engine wrote to standard error');
    },
    cutPartsRemoved(paths) {
      const what = 'removed parts that the disk had cut short; their rows are stored again';
      log.warn({ parts: paths.slice(0, mostPartsLogged), total: paths.length }, what);
    },
    engineAnswered(residentBytes, fault) {
      resident.set(residentBytes);
      if (fault !== undefined) log.warn({ fault }, 'engine answers a trivial query with an error');
    },
    engineStopped(how) {
      up.set(0);
      log.info({ how }, 'engine stopped');
    },
  };
}
