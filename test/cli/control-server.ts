/** A minimal server for the control API. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AppError } from '../../src/model/errors.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';
import type { ControlPlane } from '../admin/control-plane.ts';

export interface ControlServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export async function startControlServer(
  plane: ControlPlane,
  tls?: TlsFiles,
): Promise<ControlServer> {
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(plane, request).then(
      ({ status, body }) => response.writeHead(status).end(body && JSON.stringify(body)),
      (error: unknown) => {
        const status = error instanceof AppError ? error.kind.httpStatus : 500;
        const detail = error instanceof Error ? error.message : String(error);
        response.writeHead(status).end(JSON.stringify({ detail }));
      },
    );
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  plane: ControlPlane,
  request: IncomingMessage,
): Promise<{ status: number; body?: unknown }> {
  const secret = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const caller = await plane.directory.findToken(digestSecret(secret));
  if (!caller) throw new AppError('unauthenticated', 'cannot find the token');
  const path = (request.url ?? '').replace('/api/v1/admin', '');
  for (const route of plane.routes) {
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(path);
    if (!match || route.method !== request.method) continue;
    const params = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    const accountId = request.headers['x-active-account'] as string | undefined;
    const ifMatch = request.headers['if-match'];
    const result = await route.handle({ caller, accountId, params, body, ifMatch });
    return { status: route.successStatus, body: result };
  }
  throw new AppError('not_found', 'cannot find the route');
}
