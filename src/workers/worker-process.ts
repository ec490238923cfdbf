/**
 * One run of a worker process: starts it, answers its questions, hands it connections, and tells
 * when it is gone. Starting another is the supervisor's business.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionPermit } from '../admission/port.ts';
import { type Channel, openChannel } from './channel.ts';
import { createOwner, type OwnedParts } from './owner.ts';
import type { Beginning, MainQuestions, MetricsText, WorkerQuestions } from './questions.ts';

export interface WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly channel: Channel<WorkerQuestions>;
  /** Resolves when it takes connections. @throws Error with what it said, or how it ended */
  readonly ready: Promise<void>;
  /** Resolves with what is known of its end once the process is gone. */
  readonly exited: Promise<string>;
  /** That it was handed and that have not ended. */
  connections(): number;
  hand(connection: Accepted): void;
  /** As it answered last; asked anew where it answers in time. */
  metrics(waitMs: number): Promise<MetricsText>;
  lastMetrics(): MetricsText;
  kill(): void;
}

/** A connection that was accepted and is that no process reads yet. */
export interface Accepted {
  readonly socket: Socket;
  readonly permit: ConnectionPermit;
}

export interface WorkerLaunch {
  /** What the process runs. */
  readonly file: string;
  readonly begin: () => Omit<Beginning, 'number'>;
  readonly parts: OwnedParts;
}

/** Where the channel is among the open files of a worker; before it is Node's own, for sockets. */
export const channelDescriptor = 4;

export function startWorkerProcess(launch: WorkerLaunch, number: number): WorkerProcess {
  const child = spawn(process.execPath, [...process.execArgv, launch.file], {
    // A pair of connected sockets: nobody else can connect, and each side sees the other end.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
  });
  child.on('error', () => {});
  const stream = child.stdio[channelDescriptor] as Duplex | undefined;
  if (child.pid === undefined || !stream) throw new Error(`cannot start worker ${number}`);
  const exited = once(child, 'exit').then(
    (end) => {
      const [code, endedBy] = end as [number | null, NodeJS.Signals | null];
      return endedBy === null ? `exit code ${String(code)}` : `signal ${endedBy}`;
    },
    (error: unknown) => String(error),
  );
  const ready = Promise.withResolvers<void>();
  void exited.then((how) => ready.reject(new Error(`cannot start worker ${number}: ${how}`)));
  ready.promise.catch(() => undefined);
  const handing = createHanding(child);
  const owner = createOwner(launch.parts);
  const channel = openChannel<MainQuestions, WorkerQuestions>(stream, {
    ...owner.answers,
    begin: () => ({ ...launch.begin(), number }),
    ready: () => ready.resolve(),
    failed: (why) => ready.reject(new Error(`cannot start worker ${number}: ${why}`)),
    ended: (ids) => ids.forEach(handing.ended),
    abused: (id) => handing.abused(id),
  });
  void channel.closed.then(() => owner.release());
  void exited.then(() => {
    channel.close();
    handing.drop();
  });
  let lastMetrics: MetricsText = [];
  return {
    number,
    pid: child.pid,
    channel,
    ready: ready.promise,
    exited,
    connections: () => handing.connections(),
    hand: (connection) => handing.hand(connection),
    async metrics(waitMs) {
      lastMetrics = (await within(waitMs, channel.ask('metrics', null))) ?? lastMetrics;
      return lastMetrics;
    },
    lastMetrics: () => lastMetrics,
    kill: () => void child.kill('SIGKILL'),
  };
}

interface Handed {
  readonly permit: ConnectionPermit;
  readonly handle: Closable | undefined;
}

interface Closable {
  close(): void;
}

/** What `child.send` takes from the socket, and closes once the worker has acknowledged it. */
function handleOf(socket: Socket): Closable | undefined {
  return (socket as unknown as { readonly _handle?: Closable | null })._handle ?? undefined;
}

function createHanding(child: ChildProcess) {
  /** Not sent yet; those are lost with the worker unless they are closed here. */
  const onTheWay = new Set<Socket>();
  /** By the number that both processes know a connection by. */
  const handed = new Map<number, Handed>();
  let lastId = 0;
  return {
    connections: () => handed.size,
    abused: (id: number) => handed.get(id)?.permit.abused(),
    ended(id: number) {
      handed.get(id)?.permit.closed();
      handed.delete(id);
    },
    hand({ socket, permit }: Accepted) {
      lastId += 1;
      handed.set(lastId, { permit, handle: handleOf(socket) });
      onTheWay.add(socket);
      child.send(lastId, socket, (error) => {
        onTheWay.delete(socket);
        if (error !== null) socket.destroy();
      });
    },
    drop() {
      for (const socket of onTheWay) socket.destroy();
      onTheWay.clear();
      for (const { permit, handle } of handed.values()) {
        permit.closed();
        // Node leaks a handle that was sent to a process which ended before it acknowledged it,
        // and the client would wait. Closing a handle again does nothing.
        handle?.close();
      }
      handed.clear();
    },
  };
}

/** @returns undefined where it fails, or takes longer. */
export async function within<Answer>(
  waitMs: number,
  answer: Promise<Answer>,
): Promise<Answer | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), waitMs);
  try {
    return await Promise.race([answer.catch(() => undefined), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
