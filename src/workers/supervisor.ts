/**
 * Keeps so many worker processes alive for as long as Weir runs: starts them, starts another for
 * one that ends, gives each new connection to the one that has the fewest. What workers do is not
 * known here.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerEvents } from '../telemetry/node-events.ts';
import { sumOfMetrics, withoutLevels } from './metric-sums.ts';
import type { MetricsText, WorkerQuestions } from './questions.ts';
import { createSpread } from './spread.ts';
import {
  type Accepted,
  startWorkerProcess,
  within,
  type WorkerLaunch,
  type WorkerProcess,
} from './worker-process.ts';

export interface WorkersOptions {
  readonly count: number;
  /** Of all workers together; further ones are closed at once. */
  readonly maxConnections: number;
  /** Before a worker is started again, ms; it doubles up to the other with each early end. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A worker that ends within this, ms, has ended early. */
  readonly earlyMs: number;
  /** Between two questions to a worker whether it is alive, ms. */
  readonly askEveryMs: number;
  /** How long the answer may take, ms; who gives none several times in a row is killed. */
  readonly answerMs: number;
  /** For what is under way when workers are told to stop, ms; then they are killed. */
  readonly stopMs: number;
}

export const workersDefaults: Omit<WorkersOptions, 'count' | 'maxConnections' | 'stopMs'> = {
  firstPauseMs: 100,
  maxPauseMs: 10_000,
  earlyMs: 10_000,
  askEveryMs: 5_000,
  answerMs: 5_000,
};

export interface Workers {
  /** Resolves when all take connections. @throws Error when one cannot; the others are ended */
  start(): Promise<void>;
  /** Hands over a connection, or closes it where no worker can take it. */
  hand(connection: Accepted): void;
  /** Of those that take connections. */
  running(): number;
  connections(): number;
  /**
   * Asks all, those that are starting too. Resolves when they have answered, are gone, or `waitMs`
   * is over.
   */
  askAll(name: keyof WorkerQuestions, ask: null, waitMs: number): Promise<void>;
  tellAll<Name extends keyof WorkerQuestions>(name: Name, ask: WorkerQuestions[Name]['ask']): void;
  /** Of every worker, and of those that are gone. */
  metrics(waitMs: number): Promise<readonly MetricsText[]>;
  /** Lets requests under way end, then ends all workers. */
  close(): Promise<void>;
}

const killAfterMs = 2_000;
const maxRetired = 16;
/** In a row: the first may be due to a main process that stood still itself. */
const mostSilences = 3;

export function createWorkers(
  launch: WorkerLaunch,
  options: WorkersOptions,
  events: WorkerEvents,
): Workers {
  /** All that have not ended, those that are starting too. */
  const alive = new Set<WorkerProcess>();
  const spread = createSpread<Accepted>(options.maxConnections);
  const retired = createRetired();
  const closing = new AbortController();
  let keeping: Promise<void>[] = [];

  /** @throws Error when it does not get to taking connections; it has ended then */
  async function startOne(number: number): Promise<WorkerProcess> {
    const startedAt = performance.now();
    const worker = startWorkerProcess(launch, number);
    alive.add(worker);
    void worker.exited.then(() => {
      alive.delete(worker);
      spread.remove(worker);
      retired.add(worker.lastMetrics());
    });
    try {
      await worker.ready;
    } catch (error) {
      worker.kill();
      await worker.exited;
      throw error;
    }
    spread.add(worker);
    void watch(worker, options, events);
    events.workerReady(number, worker.pid, Math.round(performance.now() - startedAt));
    return worker;
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...alive].map((worker) => stop(worker, options.stopMs, events)));
    await Promise.all(keeping);
  }

  return {
    async start() {
      const numbers = Array.from({ length: options.count }, (_, index) => index + 1);
      const starts = { startOne, closed: closing.signal };
      try {
        const first = await Promise.all(numbers.map(startOne));
        keeping = first.map((worker) => keepAlive(worker, starts, { options, events }));
      } catch (error) {
        await close();
        throw error;
      }
    },
    hand(connection) {
      const refusal = spread.hand(connection);
      if (refusal === undefined) return;
      connection.permit.closed();
      connection.socket.destroy();
      events.connectionRefused(refusal);
    },
    running: () => spread.takers(),
    connections: () => spread.connections(),
    async askAll(name, ask, waitMs) {
      await Promise.all([...alive].map(({ channel }) => within(waitMs, channel.ask(name, ask))));
    },
    tellAll(name, ask) {
      for (const { channel } of alive) channel.tell(name, ask);
    },
    async metrics(waitMs) {
      const own = await Promise.all([...alive].map((worker) => worker.metrics(waitMs)));
      return [...own, ...retired.lists()];
    },
    close,
  };
}

interface Starts {
  readonly startOne: (number: number) => Promise<WorkerProcess>;
  readonly closed: AbortSignal;
}

type Manner = { readonly options: WorkersOptions; readonly events: WorkerEvents };

/** Resolves when workers are closed and this one's last successor has ended. */
async function keepAlive(
  first: WorkerProcess,
  starts: Starts,
  { options, events }: Manner,
): Promise<void> {
  const { number } = first;
  let worker: WorkerProcess | undefined = first;
  let early = 0;
  while (worker !== undefined) {
    const since = performance.now();
    const how = await worker.exited;
    if (starts.closed.aborted) return;
    events.workerEnded(number, worker.pid, how);
    early = performance.now() - since < options.earlyMs ? early + 1 : 0;
    worker = await startAgain({ number, early }, starts, { options, events });
  }
}

/** Tries until one takes connections; undefined when workers are closed before that. */
async function startAgain(
  { number, early }: { readonly number: number; readonly early: number },
  { startOne, closed }: Starts,
  { options, events }: Manner,
): Promise<WorkerProcess | undefined> {
  for (let failures = early; ; failures++) {
    await delay(pauseMs(options, failures), undefined, { signal: closed }).catch(() => undefined);
    if (closed.aborted) return undefined;
    try {
      return await startOne(number);
    } catch (error) {
      if (closed.aborted) return undefined;
      events.workerNotStarted(number, error, pauseMs(options, failures + 1));
    }
  }
}

/** Kills a worker that hangs: whoever is handed to it would wait for ever. */
async function watch(
  worker: WorkerProcess,
  { askEveryMs, answerMs }: WorkersOptions,
  events: WorkerEvents,
): Promise<void> {
  let isGone = false;
  void worker.exited.then(() => (isGone = true));
  for (let silences = 0; silences < mostSilences; ) {
    await delay(askEveryMs, undefined, { ref: false });
    const answer = await within(answerMs, worker.channel.ask('alive', null));
    if (isGone) return;
    silences = answer === undefined ? silences + 1 : 0;
  }
  events.workerHung(worker.number, worker.pid);
  worker.kill();
}

/** What workers have counted that are gone, without end and in bounded memory. */
function createRetired() {
  let lists: readonly MetricsText[] = [];
  return {
    lists: () => lists,
    add(metrics: MetricsText) {
      lists = [...lists, withoutLevels(metrics)];
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

async function stop(worker: WorkerProcess, stopMs: number, events: WorkerEvents): Promise<void> {
  await within(stopMs, worker.channel.ask('stop', null));
  worker.channel.close();
  const timer = setTimeout(() => {
    events.workerKilled(worker.number, worker.pid);
    worker.kill();
  }, killAfterMs);
  await worker.exited;
  clearTimeout(timer);
}

function pauseMs({ firstPauseMs, maxPauseMs }: WorkersOptions, failures: number): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
}
