/**
 * Streamed responses: failures before and after the first chunk, back-pressure, and readers that
 * leave or stall.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyReply } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../src/model/errors.ts';
import { type ReadRoute, StreamedResponse, type TicketRoute } from '../../src/model/read-route.ts';
import { createDisconnectSignals } from '../../src/server/streamed-response.ts';
import { until } from '../harness/until.ts';
import { type HeaderList, sendRaw, type Target, transports } from './client.ts';
import { accountId, type Edge, openEdge } from './edge.ts';

/** The state of the last response's chunks. */
const seen = { produced: 0, isReturned: false, isAborted: false };

const block = 'x'.repeat(64 * 1024);

async function* chunksOf(kind: string, signal: AbortSignal): AsyncGenerator<string> {
  Object.assign(seen, { produced: 0, isReturned: false, isAborted: false });
  signal.addEventListener('abort', () => {
    seen.isAborted = true;
  });
  try {
    if (kind === 'refused') throw new AppError('unavailable', 'cannot begin');
    if (kind === 'nothing') return;
    yield 'one\n';
    if (kind === 'broken') throw new Error('cannot go on');
    if (kind === 'late') await sleep(1_000);
    while (kind === 'endless') {
      seen.produced += 1;
      yield block;
    }
    for (let i = 0; kind === 'long' && i < 100; i++) yield block;
    yield 'two\n';
  } finally {
    seen.isReturned = true;
  }
}

function answer(kind: string, signal: AbortSignal): StreamedResponse {
  return new StreamedResponse('text/plain', chunksOf(kind, signal), { 'x-kind': kind });
}

const reads: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/flow/:kind',
    operationId: 'flow',
    summary: 'flow',
    scope: 'logs:read',
    params: z.object({ kind: z.string() }),
    query: z.strictObject({}),
    response: { mediaType: 'text/plain', schema: undefined },
    read: async ({ params, signal }) => answer(params['kind']!, signal),
  },
];

/** Large, and ready at about the time when its readers leave. */
const bulkyRead: ReadRoute = {
  ...reads[0]!,
  path: '/api/v1/bulky',
  operationId: 'bulky',
  params: z.object({}),
  read: async () => {
    await sleep(seen.produced++ % 4);
    return { text: block };
  },
};

const tickets: readonly TicketRoute[] = [
  {
    path: '/api/v1/tickets/:kind',
    operationId: 'ticket',
    summary: 'ticket',
    params: z.object({ kind: z.string() }),
    mediaTypes: ['text/plain'],
    scope: 'logs:read',
    read: async ({ params, signal }) => answer(params['kind']!, signal),
  },
];

const warnings: Error[] = [];
const warned = (warning: Error) => void warnings.push(warning);

let edge: Edge;
before(async () => {
  process.on('warning', warned);
  edge = await openEdge({ parts: { reads: [...reads, bulkyRead], tickets } });
});
after(async () => {
  await edge.close();
  process.off('warning', warned);
  assert.deepEqual(warnings, []);
});

const headers: HeaderList = [
  ['Authorization', 'Bearer wra_reader'],
  ['X-Active-Account', accountId],
];

/** The body as a stream, and a function that cancels it. */
interface Reading {
  readonly body: Readable;
  leave(): void;
}

type Open = (target: Target, path: string) => Promise<Reading>;

const openHttp1: Open = async ({ port, ca }, path) => {
  const { promise, resolve, reject } = Promise.withResolvers<Reading>();
  const options = { host: '127.0.0.1', servername: 'localhost', port, ca, path, agent: false };
  const request = https.get({ ...options, headers: Object.fromEntries(headers) });
  request.on('error', reject);
  request.on('response', (body) => resolve({ body, leave: () => request.destroy() }));
  return promise;
};

const openHttp2: Open = async ({ port, ca }, path) => {
  const { promise, resolve, reject } = Promise.withResolvers<Reading>();
  const session = http2.connect(`https://localhost:${port}`, { ca });
  session.on('error', reject);
  const stream = session.request({ ':path': path, ...Object.fromEntries(headers) });
  stream.on('error', reject);
  stream.on('close', () => session.destroy());
  const leave = () => stream.close(http2.constants.NGHTTP2_CANCEL);
  stream.on('response', () => resolve({ body: stream, leave }));
  return promise;
};

for (const [name, open] of [
  ['HTTP/1.1', openHttp1],
  ['HTTP/2', openHttp2],
] as const) {
  suite(name, () => {
    const target = () => ({ port: edge.ports.stream, ca: edge.ca });
    const send = (kind: string, method = 'GET', area = 'flow') =>
      transports[name](target(), { method, path: `/api/v1/${area}/${kind}`, headers, body: '' });

    test('sends chunks with the headers of route and surface', async () => {
      const { status, headers: received, body } = await send('short');
      assert.equal(status, 200);
      assert.equal(body, 'one\ntwo\n');
      assert.equal(received['content-type'], 'text/plain');
      assert.equal(received['x-kind'], 'short');
      assert.equal(received['cache-control'], 'private, no-store');
      assert.equal(received['x-content-type-options'], 'nosniff');
    });

    test('sends a long response completely', async () => {
      const { bytes } = await send('long');
      assert.equal(bytes.length, 100 * block.length + 'one\ntwo\n'.length);
    });

    test('answers 200 with an empty body if there are no chunks', async () => {
      const { status, body } = await send('nothing');
      assert.deepEqual([status, body], [200, '']);
    });

    test('answers with an error if the first chunk fails', async () => {
      const { status, headers: received, body } = await send('refused');
      assert.equal(status, 503);
      assert.equal(received['content-type'], 'application/problem+json');
      assert.ok(received['retry-after']);
      assert.equal(received['x-kind'], undefined);
      assert.match(body, /cannot begin/);
    });

    test('aborts the response if a later chunk fails', async () => {
      await assert.rejects(send('broken'));
      assert.equal(seen.isReturned, true);
    });

    test('answers HEAD with the headers and reads nothing', async () => {
      seen.produced = -1;
      const { status, headers: received, body } = await send('endless', 'HEAD');
      assert.deepEqual([status, body, seen.produced], [200, '', -1]);
      assert.equal(received['content-type'], 'text/plain');
      assert.equal(received['x-kind'], 'endless');
    });

    test('answers 405 to HEAD of a ticket, which it would use up', async () => {
      assert.equal((await send('short', 'GET', 'tickets')).body, 'one\ntwo\n');
      const { status, headers: received } = await send('short', 'HEAD', 'tickets');
      assert.equal(status, 405);
      assert.equal(received['allow'], 'GET, OPTIONS');
    });

    test('ends the read when its reader leaves', async () => {
      const reading = await open(target(), '/api/v1/flow/endless');
      reading.body.once('data', reading.leave);
      reading.body.on('error', () => {});
      await until(() => seen.isReturned && seen.isAborted, { what: 'the chunks to be returned' });
    });

    test('applies back-pressure for a slow reader', async () => {
      const reading = await open(target(), '/api/v1/flow/endless');
      reading.body.on('error', () => {});
      await until(() => seen.produced > 0, { what: 'the first chunks' });
      let produced = -1;
      await until(
        () => {
          const isStill = produced === seen.produced;
          produced = seen.produced;
          return isStill;
        },
        { what: 'the writer to block', everyMs: 200 },
      );
      assert.ok(produced * block.length < 32 * 1024 * 1024, `${produced} chunks ahead`);
      assert.equal(seen.isReturned, false);
      reading.leave();
      await until(() => seen.isReturned, { what: 'the chunks to be returned' });
    });

    test('closes a reader that reads nothing for the idle timeout', async (t) => {
      const hasty = await openEdge({ parts: { reads }, limits: { idleTimeoutMs: 300 } });
      t.after(() => hasty.close());
      const idle = { port: hasty.ports.stream, ca: hasty.ca };
      const reading = await open(idle, '/api/v1/flow/endless');
      reading.body.on('error', () => {});
      await until(() => seen.isReturned, { what: 'the chunks to be returned' });
      reading.leave();
    });

    test('keeps a reader that waits for a chunk for longer than the idle timeout', async (t) => {
      const hasty = await openEdge({ parts: { reads }, limits: { idleTimeoutMs: 300 } });
      t.after(() => hasty.close());
      const waiting = { port: hasty.ports.stream, ca: hasty.ca };
      const sent = { method: 'GET', path: '/api/v1/flow/late', headers, body: '' };
      assert.equal((await transports[name](waiting, sent)).body, 'one\ntwo\n');
    });
  });
}

test('logs no error for a response whose reader has left', async () => {
  seen.produced = 0;
  const session = http2.connect(`https://localhost:${edge.ports.stream}`, { ca: edge.ca });
  const fields = Object.fromEntries(headers);
  for (let reader = 0; reader < 100; reader += 1) {
    const stream = session.request({ ':path': bulkyRead.path, ...fields });
    stream.on('error', () => {}).resume();
    await sleep(reader % 5);
    stream.close(http2.constants.NGHTTP2_CANCEL);
  }
  assert.ok(seen.produced > 20, `only ${seen.produced} reads began`);
  const last = session.request({ ':path': '/api/v1/flow/short', ...fields });
  await once(last.resume(), 'end');
  session.close();
  assert.deepEqual(edge.state.logged, []);
});

test('closes a stalled stream despite pings', async () => {
  const hasty = await openEdge({ parts: { reads }, limits: { idleTimeoutMs: 500 } });
  const session = http2.connect(`https://localhost:${hasty.ports.stream}`, { ca: hasty.ca });
  session.on('error', () => {});
  const path = '/api/v1/flow/endless';
  const stream = session.request({ ':path': path, ...Object.fromEntries(headers) });
  stream.on('error', () => {});
  await once(stream, 'response');
  const pings = setInterval(() => session.destroyed || session.ping(() => {}), 20);
  try {
    const what = 'the chunks to be returned';
    await until(() => seen.isReturned, { what });
  } finally {
    clearInterval(pings);
    session.destroy();
    await hasty.close();
  }
});

test('reports a reader that left before it was watched', () => {
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  raw.destroy();
  const reply = { raw } as unknown as FastifyReply;
  const { disconnected, signal } = createDisconnectSignals(Fastify()).watch(reply);
  assert.deepEqual([disconnected.aborted, signal.aborted], [true, true]);
});

test('refuses HTTP/1.0, which cannot mark a truncated body', async () => {
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const target = { port: edge.ports.stream, ca: edge.ca };
  const received = await sendRaw(target, `GET /api/v1/flow/short HTTP/1.0\r\n${head}\r\n`);
  assert.match(received, /^HTTP\/1\.1 400 /);
  assert.match(received, /cannot answer this over HTTP\/1\.0/);
});
