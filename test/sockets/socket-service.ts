/** A service with listeners of protocols without HTTP, bound to receivers of its first run. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Service, type ServiceOptions, startService } from '../harness/service.ts';

export interface SocketService {
  readonly service: Service;
  /** Bound port of a setting such as `syslog.tcp`. */
  port(setting: string): number;
  /** Starts again with these flags besides those of the first start. */
  restart(flags: (service: Service) => readonly string[]): Promise<void>;
}

export async function startSocketService(
  flags: readonly string[],
  options: ServiceOptions = {},
): Promise<SocketService> {
  const all = [...flags];
  const service = await startService({ ...options, flags: all });
  return {
    service,
    port(setting) {
      const port = service.quickstart.sockets?.[setting];
      assert.ok(port, `${setting} has no port`);
      return port;
    },
    async restart(more) {
      await service.kill('SIGTERM');
      all.splice(flags.length, all.length, ...more(service));
      await service.start();
    },
  };
}

export async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Sends and ends; resolves once the other side has closed. */
export async function sendOnce(port: number, bytes: string | Buffer): Promise<void> {
  const socket = await connectTo(port);
  const closed = closeOf(socket);
  socket.end(bytes);
  await closed;
}

/** Resolves when it is closed, for whatever reason. */
export function closeOf(socket: Socket): Promise<void> {
  socket.on('error', () => {}).resume();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
