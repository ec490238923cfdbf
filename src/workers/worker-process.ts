/** One run of a worker process: starts it, serves its calls, and hands it connections. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionPermit } from '../admission/port.ts';
import { openChannel, type Remote } from '../channel/channel.ts';
import { overStream } from '../channel/stream.ts';
import type { MainMethods, MetricsJson, WorkerMethods, WorkerStart } from './methods.ts';
import { serveParts, type SharedParts } from './served-parts.ts';

export interface WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly remote: Remote<WorkerMethods>;
  /** Resolves when it accepts connections. @throws Error with its reason, or how it exited */
  readonly ready: Promise<void>;
  /** Resolves with how it exited. */
  readonly exited: Promise<string>;
  /** Open connections that were handed to this worker. */
  connections(): number;
  hand(connection: Accepted): void;
  seriesForgotten(seriesEpoch: number): void;
  /** The last known ones if it does not reply in time. */
  metrics(waitMs: number): Promise<MetricsJson>;
  lastMetrics(): MetricsJson;
  /** Asks it to stop, and lets it exit once it has, or after `waitMs`. */
  stop(waitMs: number): Promise<void>;
  kill(): void;
}

/** An accepted connection that no process reads yet. */
export interface Accepted {
  readonly socket: Socket;
  readonly permit: ConnectionPermit;
  readonly kind: 'tls' | 'plain';
}

/** The message that carries a connection to a worker. */
export interface HandedConnection extends Pick<Accepted, 'kind'> {
  readonly id: number;
}

export interface WorkerLaunch {
  /** Entry of the process. */
  readonly file: string;
  readonly start: () => Omit<WorkerStart, 'number'>;
  readonly parts: SharedParts;
}

/** The channel's descriptor in a worker; 3 is Node's own, which carries the sockets. */
export const channelDescriptor = 4;

export function startWorkerProcess(launch: WorkerLaunch, number: number): WorkerProcess {
  const child = spawn(process.execPath, [...process.execArgv, launch.file], {
    // A socket pair: it has no name, and each side sees the other end.
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
  const fail = (reason: string) =>
    ready.reject(new Error(`cannot start worker ${number}: ${reason}`));
  void exited.then(fail);
  ready.promise.catch(() => undefined);
  const handed = createHandedConnections(child);
  const served = serveParts(launch.parts);
  const channel = openChannel<MainMethods, WorkerMethods>(overStream(stream), {
    ...served.methods,
    start: () => ({ ...launch.start(), number }),
    ready: () => ready.resolve(),
    failed: fail,
    connectionsEnded: (ids) => ids.forEach(handed.ended),
    connectionAbused: (id) => handed.abused(id),
  });
  void channel.closed.then(() => served.release());
  void exited.then(() => {
    channel.close();
    handed.drop();
  });
  let lastMetrics: MetricsJson = [];
  return {
    number,
    pid: child.pid,
    remote: channel.remote,
    ready: ready.promise,
    exited,
    connections: () => handed.count(),
    hand: (connection) => handed.hand(connection),
    seriesForgotten: (seriesEpoch) => channel.notify('forgetSeries', seriesEpoch),
    async metrics(waitMs) {
      lastMetrics = (await within(waitMs, channel.remote.metrics())) ?? lastMetrics;
      return lastMetrics;
    },
    lastMetrics: () => lastMetrics,
    async stop(waitMs) {
      await within(waitMs, channel.remote.stop());
      channel.close();
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

interface Closable {
  close(): void;
}

/** What `child.send` takes from the socket, and closes once the worker has acknowledged it. */
function handleOf(socket: Socket): Closable | undefined {
  return (socket as unknown as { readonly _handle?: Closable | null })._handle ?? undefined;
}

function createHandedConnections(child: ChildProcess) {
  const sending = new Set<Socket>();
  /** By the id that both processes use. */
  const open = new Map<number, { permit: ConnectionPermit; handle: Closable | undefined }>();
  let lastId = 0;
  return {
    count: () => open.size,
    abused: (id: number) => open.get(id)?.permit.abused(),
    ended(id: number) {
      open.get(id)?.permit.closed();
      open.delete(id);
    },
    hand({ socket, permit, kind }: Accepted) {
      lastId += 1;
      open.set(lastId, { permit, handle: handleOf(socket) });
      sending.add(socket);
      const message: HandedConnection = { id: lastId, kind };
      child.send(message, socket, (error) => {
        sending.delete(socket);
        if (error !== null) socket.destroy();
      });
    },
    drop() {
      for (const socket of sending) socket.destroy();
      sending.clear();
      for (const { permit, handle } of open.values()) {
        permit.closed();
        // Node leaks a handle sent to a process that exited before acknowledging it, and the
        // client would wait. Closing a handle twice is harmless.
        handle?.close();
      }
      open.clear();
    },
  };
}

/** @returns undefined if the reply is an error, or takes longer. */
export async function within<Reply>(
  waitMs: number,
  reply: Promise<Reply>,
): Promise<Reply | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), waitMs);
  try {
    return await Promise.race([reply.catch(() => undefined), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
