/** A server of event streams that a test writes line by line and can cut off. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EventConnection {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  event(type: string, data: object, id?: string): void;
}

export interface EventServer {
  readonly url: string;
  /** The next unclaimed connection. */
  next(): Promise<EventConnection>;
  close(): Promise<void>;
}

/** @param others handles all other requests. */
export async function startEventServer(
  others: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<EventServer> {
  const waiting: EventConnection[] = [];
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/api/v1/logs/tail')) return others(request, response);
    waiting.push(toConnection(request, response));
    server.emit('tail');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async next() {
      if (waiting.length === 0) await once(server, 'tail');
      return waiting.shift()!;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function toConnection(request: IncomingMessage, response: ServerResponse): EventConnection {
  return {
    request,
    response,
    event(type, data, id) {
      const position = id === undefined ? '' : `id: ${id}\n`;
      response.write(`event: ${type}\n${position}data: ${JSON.stringify(data)}\n\n`);
    },
  };
}

/** Settings of a command that reads from a server. */
export function environmentFor(url: string): Record<string, string> {
  return { WEIR_URL: url, WEIR_TOKEN: 'wra_x', WEIR_ACCOUNT: 'a', WEIR_DATA: '/nowhere' };
}
