/** A TCP load balancer in front of several gateways: round robin over the reachable ones. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** @param ports local ports, in round-robin order */
export async function openBalancer(ports: readonly number[]): Promise<Balancer> {
  const clients = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    client.on('error', () => undefined).once('close', () => clients.delete(client));
    turn += 1;
    void pass(client, inTurn(ports, turn));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

function inTurn(ports: readonly number[], turn: number): number[] {
  return ports.map((_, index) => ports[(turn + index) % ports.length] as number);
}

async function pass(client: Socket, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    try {
      await once(server, 'connect');
    } catch {
      // The next one may be reachable.
      continue;
    }
    const end = () => {
      client.destroy();
      server.destroy();
    };
    pipeline(client, server, (error) => error && end());
    pipeline(server, client, (error) => error && end());
    return;
  }
  client.resetAndDestroy();
}
