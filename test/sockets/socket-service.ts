/** A service with listeners of protocols without HTTP, bound to receivers of its first run. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createClientAuthority } from '../harness/client-authority.ts';
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

export interface CertifiedService extends SocketService {
  /** A key and a certificate for a client. */
  issue(commonName: string): { readonly cert: string; readonly key: string };
  /** Sends over TLS and ends; resolves once the other side has closed. */
  sendSecure(setting: string, line: string, certificate: object): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a service that knows clients by their certificates. */
export async function startCertifiedService(flags: readonly string[]): Promise<CertifiedService> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-clients-'));
  const authority = createClientAuthority(folder);
  const sockets = await startSocketService([...flags, '--tls-client-ca-file', authority.caFile]);
  return {
    ...sockets,
    issue(commonName) {
      const { certFile, keyFile } = authority.issue(commonName);
      return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    },
    async sendSecure(setting, line, certificate) {
      const ca = readFileSync(sockets.service.quickstart.caFile, 'utf8');
      const port = sockets.port(setting);
      const socket = connectTls({ port, host: 'localhost', ca, ...certificate });
      const closed = closeOf(socket);
      socket.end(line);
      await closed;
    },
    async stop() {
      await sockets.service.stop();
      rmSync(folder, { recursive: true });
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
