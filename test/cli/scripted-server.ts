/** A plain HTTP server with scripted answers that records requests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Scripted {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of `body`. */
  readonly text?: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  close(): Promise<void>;
}

export interface ScriptedOptions {
  readonly host?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** @param answer undefined cuts the connection. */
export async function startScriptedServer(
  answer: (seen: Seen, count: number) => Scripted | undefined,
  { host = '127.0.0.1', tls }: ScriptedOptions = {},
): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    void text(request).then((body) => {
      const asked = { path: request.url ?? '', headers: request.headers, body };
      seen.push(asked);
      const scripted = answer(asked, seen.length);
      if (scripted === undefined) request.socket.destroy();
      else {
        response.writeHead(scripted.status, scripted.headers);
        response.end(scripted.text ?? JSON.stringify(scripted.body ?? {}));
      }
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    port,
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
