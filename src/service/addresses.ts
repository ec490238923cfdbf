/** Where a process listens, and the URLs under which senders and readers reach it. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Addresses } from '../admin/quickstart.ts';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import type { PortOptions } from '../server/ports.ts';
import type { Server, ServerOptions } from '../server/server.ts';

type Bound = Pick<Server, 'ports' | 'caFile'>;

/** Ports chosen by the system are known once bound: call `settle` before the first use. */
export interface RunAddresses extends Addresses {
  settle(bound: Bound): void;
  /** Ports of listeners without HTTP, by the name of the setting. */
  settleSockets(ports: Readonly<Record<string, number>>): void;
}

export function createAddresses(config: Config): RunAddresses {
  const { ingest, stream, ops } = config;
  const elsewhere = toPortsElsewhere(config);
  let bound: Bound = {
    ports: { ingest: ingest.port, stream: stream.port, ops: ops.port },
    caFile: undefined,
  };
  let sockets: Readonly<Record<string, number>> | undefined;
  return {
    get ingestUrl() {
      return ingest.publicUrl || `https://localhost:${bound.ports.ingest || ingest.port}`;
    },
    get streamUrl() {
      return stream.publicUrl || `https://localhost:${bound.ports.stream || stream.port}`;
    },
    get opsUrl() {
      return `http://${ops.host || '127.0.0.1'}:${bound.ports.ops}`;
    },
    get caFile() {
      return bound.caFile;
    },
    ...(elsewhere.length > 0 && { elsewhere }),
    get sockets() {
      return sockets;
    },
    settle(server) {
      bound = server;
    },
    settleSockets(ports) {
      sockets = ports;
    },
  };
}

export function toServerOptions(config: Config): ServerOptions & { readonly ops: PortOptions } {
  const { ingest, stream, proxy, ops, tls } = config;
  const roles = rolesOf(config);
  const acceptsIngest = roles.has('gateway') && config.workers === 1;
  return {
    ingest: acceptsIngest ? { host: ingest.host, port: ingest.port } : undefined,
    stream: roles.has('stream') ? { host: stream.host, port: stream.port } : undefined,
    plain: {
      ingest: acceptsIngest ? toPlainPort(proxy.host, proxy.ingestPort) : undefined,
      stream: roles.has('stream') ? toPlainPort(proxy.host, proxy.streamPort) : undefined,
      hasProxyHeader: proxy.proxyProtocol === 'required',
    },
    ops: { host: ops.host, port: ops.port },
    maxConnections: ingest.maxConnections,
    limits: {
      headersTimeoutMs: ingest.headersTimeoutMs,
      idleTimeoutMs: 60_000,
      keepAliveTimeoutMs: 60_000,
      maxStreamsPerConnection: ingest.maxStreamsPerConnection,
    },
    tls: {
      certFile: tls.certFile === '' ? undefined : tls.certFile,
      keyFile: tls.keyFile === '' ? undefined : tls.keyFile,
      directory: join(resolve(config.data), 'tls'),
      checkEveryMs: 5000,
    },
    explorerDirectory: fileURLToPath(new URL('../../ui/dist', import.meta.url)),
    closing: { noticeMs: 100, graceMs: 10_000 },
  };
}

/** @returns undefined for port 0 */
export function toPlainPort(host: string, port: number): PortOptions | undefined {
  return port === 0 ? undefined : { host, port };
}

/** The ports that other nodes serve and whose public URL is not configured. */
function toPortsElsewhere(config: Config): ('ingest' | 'stream')[] {
  const roles = rolesOf(config);
  return [
    ...(roles.has('gateway') || config.ingest.publicUrl !== '' ? [] : ['ingest' as const]),
    ...(roles.has('stream') || config.stream.publicUrl !== '' ? [] : ['stream' as const]),
  ];
}
