/** The parent's side of the load generator: start it, set its rate, read its counters. */
import { fork } from 'node:child_process';
import type { LoadOrder, LoadReport, LoadTask } from './load-process.ts';

export interface Load {
  readonly pid: number;
  /** Resolves once it is ready. */
  readonly opened: Promise<void>;
  /** Events/s from now on; 0 pauses, Infinity removes the limit. */
  setRate(eventsPerSecond: number): void;
  /** Totals since the start. */
  totals(): Totals;
  /** Latencies in ms since the last call. */
  takeLatencies(): number[];
  stop(): Promise<void>;
}

export interface Totals {
  readonly events: number;
  readonly bytes: number;
  readonly refused: number;
}

/** Represents Infinity, which JSON cannot. */
const unlimited = 1e12;

export function startLoad(task: LoadTask): Load {
  const child = fork(new URL('./load-process.ts', import.meta.url));
  const { pid } = child;
  if (pid === undefined) throw new Error('cannot start the load generator: no process');
  let totals: Totals = { events: 0, bytes: 0, refused: 0 };
  let latencies: number[] = [];
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  child.on('message', (report: LoadReport) => {
    open();
    totals = report;
    for (const latency of report.latenciesMs) latencies.push(latency);
  });
  child.send(task);
  const order = (eventsPerSecond: number) => {
    const message: LoadOrder = { eventsPerSecond: Math.min(eventsPerSecond, unlimited) };
    child.send(message);
  };
  return {
    pid,
    opened,
    setRate: order,
    totals: () => totals,
    takeLatencies: () => {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    stop: () => {
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.disconnect();
      return exited;
    },
  };
}
