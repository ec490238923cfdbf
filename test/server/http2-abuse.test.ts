/** HTTP/2 connections that cause work without requests: they get GOAWAY and are closed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, suite, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { z } from 'zod';
import { jsonResponse, type ReadRoute } from '../../src/model/read-route.ts';
import { flags, frame, frameTypes, headerBlock, preface, uint32 } from '../floods/frames.ts';
import { accountId, type Edge, openEdge, secret } from './edge.ts';

/** Requests handled. */
let begun = 0;
const read: ReadRoute = {
  method: 'GET',
  path: '/api/v1/work',
  operationId: 'work',
  summary: 'Counts',
  scope: 'logs:read',
  query: z.strictObject({}),
  response: jsonResponse(z.object({})),
  read: async () => {
    begun += 1;
    return {};
  },
};

let edge: Edge;
before(async () => {
  edge = await openEdge({ parts: { reads: [read] } });
});
after(() => edge.close());

const protocolError = 1;
const internalError = 2;
const enhanceYourCalm = 11;
const cancel = uint32(8);
const reading = headerBlock([
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'localhost'],
  [':path', '/api/v1/work'],
  ['authorization', 'Bearer wra_reader'],
  ['x-active-account', accountId],
]);
const uploading = headerBlock([
  [':method', 'POST'],
  [':scheme', 'https'],
  [':authority', 'localhost'],
  [':path', '/v1/receivers/rcv_a/logs'],
  ['authorization', `Bearer ${secret}`],
  ['content-type', 'application/json'],
]);
const whole = flags.endHeaders + flags.endStream;

interface Peer {
  readonly socket: TLSSocket;
  /** Frames of the server so far. */
  frames(): readonly { type: number; payload: Buffer }[];
}

async function connectPeer(surface: 'ingest' | 'stream'): Promise<Peer> {
  const socket = connect({
    host: '127.0.0.1',
    servername: 'localhost',
    port: edge.ports[surface],
    ca: edge.ca,
    ALPNProtocols: ['h2'],
  });
  socket.on('error', () => {});
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  await once(socket, 'secureConnect');
  socket.write(preface);
  const frames = () => {
    const all: { type: number; payload: Buffer }[] = [];
    for (let at = 0; at + 9 <= received.length; ) {
      const end = at + 9 + received.readUIntBE(at, 3);
      all.push({ type: received[at + 3]!, payload: received.subarray(at + 9, end) });
      at = end;
    }
    return all;
  };
  return { socket, frames };
}

/** Writes until the server closes the connection. @returns the code of its GOAWAY */
async function flood(peer: Peer, next: () => Buffer): Promise<number | undefined> {
  const { socket } = peer;
  const pump = () => {
    if (socket.destroyed) return;
    if (socket.write(next())) setImmediate(pump);
    else socket.once('drain', pump);
  };
  pump();
  // Writes after the server has closed are errors.
  await new Promise((resolve) => socket.once('close', resolve));
  const goaway = peer.frames().find(({ type }) => type === frameTypes.goaway);
  return goaway?.payload.readUInt32BE(4);
}

async function cuts(reason: string): Promise<number> {
  const text = await edge.metrics.metrics();
  const pattern = new RegExp(`connections_cut_total{.*reason="${reason}"} (\\d+)`, 'g');
  return [...text.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

suite('cancelled requests', () => {
  test('are not handled if RST_STREAM arrives with them', async () => {
    begun = 0;
    const { socket, frames } = await connectPeer('stream');
    const pairs = Array.from({ length: 20 }, (_, index) => [
      frame(frameTypes.headers, { stream: 1 + 2 * index, flag: whole }, reading),
      frame(frameTypes.reset, { stream: 1 + 2 * index }, cancel),
    ]);
    const last = frame(frameTypes.headers, { stream: 101, flag: whole }, reading);
    socket.write(Buffer.concat([...pairs.flat(), last]));
    while (!frames().some(({ type }) => type === frameTypes.data)) await once(socket, 'data');
    assert.equal(begun, 1);
    socket.destroy();
  });

  test('close the connection above the limit', async () => {
    begun = 0;
    const peer = await connectPeer('stream');
    let stream = 1;
    const code = await flood(peer, () => {
      const head = frame(frameTypes.headers, { stream, flag: whole }, reading);
      const reset = frame(frameTypes.reset, { stream }, cancel);
      stream += 2;
      return Buffer.concat([head, reset]);
    });
    // Node ends the session first if it reads many resets at once.
    assert.ok(code === enhanceYourCalm || code === internalError, `GOAWAY with ${String(code)}`);
    assert.ok(begun < 200, `work began ${begun} times`);
    assert.deepEqual(edge.state.logged, []);
  });

  test('close the connection if the client provokes the resets (MadeYouReset)', async () => {
    const peer = await connectPeer('ingest');
    let stream = 1;
    const code = await flood(peer, () => {
      const head = frame(frameTypes.headers, { stream, flag: flags.endHeaders }, uploading);
      const update = frame(frameTypes.windowUpdate, { stream }, uint32(0));
      stream += 2;
      return Buffer.concat([head, update]);
    });
    // Node counts invalid frames as well.
    assert.ok([enhanceYourCalm, internalError, protocolError].includes(code ?? 0), String(code));
  });
});

suite('protocol overhead', () => {
  const many = (one: Buffer) => Buffer.concat(Array.from({ length: 1000 }, () => one));

  test('close the connection of a body in one-byte frames', async () => {
    const cutBefore = await cuts('overhead');
    const peer = await connectPeer('ingest');
    const { socket } = peer;
    const streams = Array.from({ length: 50 }, (_, index) => 1 + 2 * index);
    for (const stream of streams) {
      socket.write(frame(frameTypes.headers, { stream, flag: flags.endHeaders }, uploading));
    }
    const pieces = Buffer.concat(
      streams.map((stream) => frame(frameTypes.data, { stream }, Buffer.from('x'))),
    );
    assert.equal(await flood(peer, () => pieces), enhanceYourCalm);
    assert.equal(await cuts('overhead'), cutBefore + 1);
  });

  for (const [name, one] of [
    ['PING', frame(frameTypes.ping, {}, Buffer.alloc(8))],
    ['PRIORITY', frame(frameTypes.priority, { stream: 1 }, Buffer.from([0, 0, 0, 3, 16]))],
  ] as const) {
    test(`close the connection of a flood of ${name}`, async () => {
      const peer = await connectPeer('stream');
      const bytes = many(one);
      // Node ends a session whose pending acknowledgements exceed its memory.
      await flood(peer, () => bytes);
      assert.deepEqual(edge.state.logged, []);
    });
  }

  test('do not close a large upload in frames of usual size', async () => {
    const { socket, frames } = await connectPeer('ingest');
    const cutBefore = await cuts('overhead');
    // From then on the flow-control window exceeds 64 KiB.
    while (!frames().some(({ type }) => type === frameTypes.settings)) await once(socket, 'data');
    socket.write(frame(frameTypes.settings, { flag: flags.ack }));
    socket.write(frame(frameTypes.headers, { stream: 1, flag: flags.endHeaders }, uploading));
    const piece = frame(frameTypes.data, { stream: 1 }, Buffer.alloc(16_000, 'x'));
    for (let count = 0; count < 60; count += 1) socket.write(piece);
    socket.write(frame(frameTypes.data, { stream: 1, flag: flags.endStream }, Buffer.from('x')));
    while (!frames().some(({ type }) => type === frameTypes.data)) await once(socket, 'data');
    socket.write(frame(frameTypes.ping, {}, Buffer.from('12345678')));
    const isPong = ({ payload }: { payload: Buffer }) => payload.toString() === '12345678';
    while (!frames().some(isPong)) await once(socket, 'data');
    assert.equal(await cuts('overhead'), cutBefore);
    socket.destroy();
  });
});

suite('one address', () => {
  test('may open a new connection at its limit once another is closed', async (t) => {
    const few = await openEdge({ gate: { maxConnectionsPerAddress: 2 } });
    t.after(() => few.close());
    const open = async () => {
      const socket = connect({
        host: '127.0.0.1',
        servername: 'localhost',
        port: few.ports.ingest,
        ca: few.ca,
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve));
      return socket;
    };
    const [first, second] = [await open(), await open()];
    assert.equal((await open()).destroyed, true);
    const text = await few.metrics.metrics();
    assert.match(text, /connections_cut_total{surface="ingest",reason="address"} 1/);
    first.destroy();
    let third = await open();
    // The server sees the end a moment later.
    while (third.destroyed) third = await open();
    for (const socket of [second, third]) socket.destroy();
  });
});
