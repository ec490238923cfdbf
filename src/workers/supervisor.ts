/**
 * Keeps a fixed number of worker processes running: restarts those that exit or hang, gives each
 * new connection to the one with the fewest, and sums their metrics.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, type PrometheusContentType, type Registry } from 'prom-client';
import type { Remote } from '../channel/channel.ts';
import type { WorkerEvents } from '../telemetry/node-events.ts';
import type { MetricsJson, WorkerMethods } from './methods.ts';
import { createConnectionBalancer } from './connection-balancer.ts';
import {
  type Accepted,
  startWorkerProcess,
  within,
  type WorkerLaunch,
  type WorkerProcess,
} from './worker-process.ts';

export interface WorkersOptions {
  readonly count: number;
  /** Maximum of open connections of all workers together; further ones are closed at once. */
  readonly maxConnections: number;
  /** How long a worker may take to stop, ms; then it is killed. */
  readonly stopMs: number;
  /** Interval of pings to each worker, and how long a reply may take, ms; default 5000 each. */
  readonly pingEveryMs?: number;
  readonly pingTimeoutMs?: number;
}

export type Workers = ReturnType<typeof createWorkers>;

const firstPauseMs = 100;
const maxPauseMs = 10_000;
/** A worker that exits within this time counts towards the backoff. */
const earlyMs = 10_000;
const pingMs = 5_000;
/** Consecutive missed replies: a single one may be due to a stall of the main process itself. */
const maxMissedPings = 3;
const killAfterMs = 2_000;
const maxRetired = 16;

export function createWorkers(launch: WorkerLaunch, options: WorkersOptions, events: WorkerEvents) {
  /** All that have not exited, those that are starting included. */
  const alive = new Set<WorkerProcess>();
  const balancer = createConnectionBalancer<Accepted>(options.maxConnections);
  const retired = createRetiredCounters();
  const closing = new AbortController();
  const { signal } = closing;
  let supervised: Promise<void>[] = [];

  /** @throws Error when it exits before it is ready */
  async function startOne(number: number): Promise<WorkerProcess> {
    const startedAt = performance.now();
    const worker = startWorkerProcess(launch, number);
    alive.add(worker);
    void worker.exited.then(() => {
      alive.delete(worker);
      balancer.remove(worker);
      retired.add(worker.lastMetrics());
    });
    try {
      await worker.ready;
    } catch (error) {
      worker.kill();
      await worker.exited;
      throw error;
    }
    balancer.add(worker);
    void killWhenHung(worker, options, events);
    events.workerReady(number, worker.pid, Math.round(performance.now() - startedAt));
    return worker;
  }

  /** Lets in-flight requests end, then ends all workers. */
  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...alive].map((worker) => stop(worker, options.stopMs, events)));
    await Promise.all(supervised);
  }

  return {
    /** Resolves when all accept connections. @throws Error when one cannot; the others are ended */
    async start(): Promise<void> {
      const numbers = Array.from({ length: options.count }, (_, index) => index + 1);
      try {
        const started = await Promise.all(numbers.map(startOne));
        supervised = started.map((worker) => supervise(worker, startOne, { signal, events }));
      } catch (error) {
        await close();
        throw error;
      }
    },
    /** Hands over a connection, or closes it if no worker can accept it. */
    hand(connection: Accepted): void {
      const refusal = balancer.hand(connection);
      if (refusal === undefined) return;
      connection.permit.closed();
      connection.socket.destroy();
      events.connectionRefused(refusal);
    },
    /** Workers that accept connections. */
    running: () => balancer.targets(),
    connections: () => balancer.connections(),
    /** Calls all workers, those that are starting included; waits for replies up to `waitMs`. */
    async callAll(
      call: (worker: Remote<WorkerMethods>) => Promise<unknown>,
      waitMs: number,
    ): Promise<void> {
      await Promise.all([...alive].map(({ remote }) => within(waitMs, call(remote))));
    },
    seriesForgotten(seriesEpoch: number): void {
      for (const worker of alive) worker.seriesForgotten(seriesEpoch);
    },
    /** Metrics of every worker, and the counters of those that exited. */
    async metrics(waitMs: number): Promise<readonly MetricsJson[]> {
      const own = await Promise.all([...alive].map((worker) => worker.metrics(waitMs)));
      return [...own, ...retired.lists()];
    },
    close,
  };
}

/** Restarts the worker with backoff until closed. */
async function supervise(
  first: WorkerProcess,
  startOne: (number: number) => Promise<WorkerProcess>,
  { signal, events }: { readonly signal: AbortSignal; readonly events: WorkerEvents },
): Promise<void> {
  const { number } = first;
  let worker: WorkerProcess | undefined = first;
  for (let failures = 0; ; ) {
    if (worker !== undefined) {
      const since = performance.now();
      const how = await worker.exited;
      if (signal.aborted) return;
      events.workerEnded(number, worker.pid, how);
      failures = performance.now() - since < earlyMs ? failures + 1 : 0;
    }
    await delay(pauseMs(failures), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    worker = await startOne(number).catch((error: unknown) => {
      failures += 1;
      if (!signal.aborted) events.workerNotStarted(number, error, pauseMs(failures));
      return undefined;
    });
  }
}

/** Connections handed to a hung worker would wait forever. */
async function killWhenHung(
  worker: WorkerProcess,
  { pingEveryMs = pingMs, pingTimeoutMs = pingMs }: WorkersOptions,
  events: WorkerEvents,
): Promise<void> {
  let isGone = false;
  void worker.exited.then(() => (isGone = true));
  for (let missed = 0; missed < maxMissedPings; ) {
    await delay(pingEveryMs, undefined, { ref: false });
    const reply = await within(
      pingTimeoutMs,
      worker.remote.ping().then(() => true),
    );
    if (isGone) return;
    missed = reply === undefined ? missed + 1 : 0;
  }
  events.workerHung(worker.number, worker.pid);
  worker.kill();
}

async function stop(worker: WorkerProcess, stopMs: number, events: WorkerEvents): Promise<void> {
  await worker.stop(stopMs);
  const timer = setTimeout(() => {
    events.workerKilled(worker.number, worker.pid);
    worker.kill();
  }, killAfterMs);
  await worker.exited;
  clearTimeout(timer);
}

function pauseMs(failures: number): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
}

/** What exited workers had counted, in bounded memory. */
function createRetiredCounters() {
  let lists: readonly MetricsJson[] = [];
  return {
    lists: () => lists,
    add(metrics: MetricsJson) {
      lists = [...lists, withoutGauges(metrics)];
      if (lists.length < maxRetired) return;
      const many = lists;
      void sumOfMetrics(many)
        .getMetricsAsJSON()
        .then((sum) => {
          lists = [sum, ...lists.slice(many.length)];
        });
    },
  };
}

/** Each value is the sum over the processes: gauges too, which are all levels that add up. */
export function sumOfMetrics(lists: readonly MetricsJson[]): Registry {
  return AggregatorRegistry.aggregate<PrometheusContentType>([...lists]);
}

/** Counters of an exited process are kept, so that sums never decrease; its gauges are not. */
export function withoutGauges(metrics: MetricsJson): MetricsJson {
  return metrics.filter((metric) => 'type' in metric && metric.type !== 'gauge');
}
