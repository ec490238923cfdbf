/** Connections that cost a handshake or a slot and send nothing. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { Attack, Tally, Target } from '../attack.ts';
import { aborted, count, dial, dialPlain, keepConnections, pause } from '../connections.ts';
import { toHead, withWrongToken } from '../requests.ts';

const ports = ['ingest', 'stream'] as const;

const stalledHandshakes: Attack = {
  name: 'TLS handshakes that stall',
  ports,
  tokens: [false],
  run: async (target, stop) => {
    const tally: Tally = {};
    const stall = async (index: number) => {
      while (!stop.aborted) {
        const socket = dialPlain(target);
        count(tally, 'opened');
        // Nothing, half a ClientHello, or everything except the second flight.
        if (index % 3 === 1) socket.write(Buffer.from('16030102000100', 'hex'));
        if (index % 3 === 2) sayHello(socket);
        await Promise.race([once(socket, 'close').catch(() => {}), aborted(stop)]);
        socket.destroy();
        await pause(5, stop);
      }
    };
    await Promise.all(Array.from({ length: 600 }, (_, index) => stall(index)));
    return tally;
  },
};

/** A real ClientHello, whose sender then ignores the answer. */
function sayHello(socket: Socket): void {
  const client = connect({ socket, servername: 'localhost', ALPNProtocols: ['h2'] });
  client.on('error', () => {});
  socket.once('connect', () => setImmediate(() => socket.pause()));
}

function idle(name: string, addresses: readonly string[]): Attack {
  return {
    name,
    ports,
    tokens: [false],
    run: async (target, stop) => {
      const each = Math.ceil(10_000 / addresses.length);
      const tallies = await Promise.all(
        addresses.map((from) => hold({ ...target, from }, each, stop)),
      );
      const sum: Tally = {};
      for (const tally of tallies) {
        for (const [key, value] of Object.entries(tally)) count(sum, key, value);
      }
      return sum;
    },
  };
}

/** Opens this many, a few at a time, and keeps them. */
async function hold(target: Target, connections: number, stop: AbortSignal): Promise<Tally> {
  const tally: Tally = {};
  let left = connections;
  const open = async () => {
    while (left > 0 && !stop.aborted) {
      left -= 1;
      const dialled = await dial(target, 'h2');
      count(tally, dialled === undefined ? 'refused' : 'opened');
      if (dialled === undefined) await pause(50, stop);
      else void aborted(stop).then(() => dialled.socket.destroy());
    }
  };
  await Promise.all(Array.from({ length: 16 }, open));
  await aborted(stop);
  return tally;
}

const storm: Attack = {
  name: 'reconnect storm',
  ports,
  tokens: [false],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 64, alpn: 'http/1.1' }, async (socket) => {
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      socket.once('data', () => socket.destroy());
    }),
};

const wrongTokens: Attack = {
  name: 'wrong tokens',
  ports,
  tokens: [false],
  run: (target, stop) => {
    let attempt = 0;
    return keepConnections(
      { target, stop, connections: 32, alpn: 'http/1.1' },
      async (socket, tally) => {
        while (!stop.aborted && !socket.destroyed) {
          attempt += 1;
          count(tally, 'requests');
          const asked = withWrongToken(target, attempt);
          socket.write(
            toHead(asked, [...(asked.method === 'POST' ? ['content-length: 0'] : []), '', '']),
          );
          await Promise.race([once(socket, 'data'), once(socket, 'close'), aborted(stop)]);
        }
      },
    );
  },
};

const many = Array.from({ length: 8 }, (_, index) => `127.0.1.${index + 1}`);

export const connecting: readonly Attack[] = [
  stalledHandshakes,
  idle('10,000 idle connections from one address', ['127.0.0.2']),
  idle('10,000 idle connections from eight addresses', many),
  storm,
  wrongTokens,
];
