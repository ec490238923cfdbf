/** A TCP proxy that injects network faults: holds back, delays, resets or refuses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** `up` = client to server, `down` = server to client. */
export type Direction = 'up' | 'down';

export interface FaultProxy {
  /** On 127.0.0.1, constant until closed. */
  readonly port: number;
  /**
   * Ends all faults and releases held data. Pass `up` if the client may have disconnected:
   * releasing `down` would make it reset the connection and lose `up`.
   */
  pass(...directions: readonly Direction[]): Promise<void>;
  /** Accepts connections and forwards nothing, neither bytes nor their end. */
  hold(...directions: readonly Direction[]): void;
  /** Delays each chunk. */
  delay(millis: number, ...directions: readonly Direction[]): void;
  /**
   * Forwards this many further bytes over all connections, then resets the one with more data.
   * Once; resolves when done.
   */
  cutAfter(bytes: number, direction: Direction): Promise<void>;
  /** Resets all current connections. */
  cut(): void;
  /** Resets all connections and accepts no new ones, like a stopped server. */
  refuse(): Promise<void>;
  /** Number of open connections. */
  connections(): number;
  /** Bytes forwarded so far. */
  passed(direction: Direction): number;
  close(): Promise<void>;
}

interface Way {
  /** Resolves once nothing is held back. */
  gate: Promise<void>;
  open: () => void;
  delayMillis: number;
  passedBytes: number;
  cut: { bytesLeft: number; readonly done: () => void } | undefined;
}

const both: readonly Direction[] = ['up', 'down'];

/** @param target the server, such as `{ port: 5432, host: '127.0.0.1' }` or `{ path }`. */
export async function openFaultProxy(target: NetConnectOpts): Promise<FaultProxy> {
  const ways: Readonly<Record<Direction, Way>> = { up: openWay(), down: openWay() };
  const pairs = new Set<readonly [Socket, Socket]>();

  const join = (client: Socket): void => {
    const server = connect({ ...target, allowHalfOpen: true });
    const pair = [client, server] as const;
    pairs.add(pair);
    const reset = () => {
      pairs.delete(pair);
      for (const socket of pair) resetSocket(socket);
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', reset);
    }
    Promise.all([pump(client, server, ways.up), pump(server, client, ways.down)])
      .then(() => pairs.delete(pair))
      .catch(reset);
  };

  let listening: Server | undefined = await listen(join, 0);
  const { port } = listening.address() as { port: number };
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) resetSocket(socket);
    pairs.clear();
  };
  const stopListening = async () => {
    const server = listening;
    listening = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };

  return {
    port,
    async pass(...directions) {
      for (const direction of orBoth(directions)) {
        const way = ways[direction];
        way.delayMillis = 0;
        way.cut = undefined;
        way.open();
      }
      listening ??= await listen(join, port);
    },
    hold(...directions) {
      for (const direction of orBoth(directions)) shut(ways[direction]);
    },
    delay(millis, ...directions) {
      for (const direction of orBoth(directions)) ways[direction].delayMillis = millis;
    },
    cutAfter(bytes, direction) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ways[direction].cut = { bytesLeft: bytes, done: resolve };
      return promise;
    },
    cut,
    refuse: stopListening,
    connections: () => pairs.size,
    passed: (direction) => ways[direction].passedBytes,
    async close() {
      await stopListening();
      for (const way of Object.values(ways)) way.open();
    },
  };
}

/**
 * While Node sends a FIN (one event-loop turn) it ignores a reset and leaks the socket, which keeps
 * the process alive.
 */
function resetSocket(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}

/** Rejects when the connection has to be reset. */
async function pump(from: Socket, to: Socket, way: Way): Promise<void> {
  const chunks: AsyncIterable<Buffer> = from.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    if (way.delayMillis > 0) await sleep(way.delayMillis);
    await way.gate;
    const { cut } = way;
    const allowed = cut === undefined ? chunk : chunk.subarray(0, cut.bytesLeft);
    way.passedBytes += allowed.length;
    if (!to.write(allowed)) await once(to, 'drain');
    if (cut === undefined) continue;
    cut.bytesLeft -= allowed.length;
    if (allowed.length === chunk.length) continue;
    way.cut = undefined;
    // Written data may still be buffered in this process.
    await new Promise((resolve) => to.write('', resolve));
    cut.done();
    throw new Error('cut');
  }
  await way.gate;
  to.end();
}

function openWay(): Way {
  return {
    gate: Promise.resolve(),
    open: () => undefined,
    delayMillis: 0,
    passedBytes: 0,
    cut: undefined,
  };
}

function shut(way: Way): void {
  way.open();
  const { promise, resolve } = Promise.withResolvers<void>();
  way.gate = promise;
  way.open = resolve;
}

function orBoth(directions: readonly Direction[]): readonly Direction[] {
  return directions.length === 0 ? both : directions;
}

async function listen(onConnection: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A host that drops packets, so that connecting times out. */
export interface BlackHole {
  readonly port: number;
  close(): Promise<void>;
}

/** A suspended listener with a full accept queue: Linux drops further SYNs. */
export async function openBlackHole(): Promise<BlackHole> {
  const script =
    "const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }," +
    ' () => console.log(s.address().port))';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const port = Number(line);
  child.kill('SIGSTOP');
  const fillers: Socket[] = [];
  while (await connects(port, fillers));
  return {
    port,
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      for (const socket of fillers) socket.destroy();
      await exited;
    },
  };
}

/** Whether the system still accepts a connection, which stays open. */
async function connects(port: number, kept: Socket[]): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  kept.push(socket);
  socket.on('error', () => undefined);
  const connected = once(socket, 'connect').then(() => true);
  return Promise.race([connected.catch(() => true), sleep(300, false)]);
}
