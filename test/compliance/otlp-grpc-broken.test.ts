/**
 * Export calls that break off, against the real process: connections that end, deadlines that pass,
 * streams that are reset, floods of control frames. What was acknowledged is stored, no request is
 * stored in part, and the service goes on.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http2, { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, suite, test } from 'node:test';
import { dial, pump } from '../floods/connections.ts';
import { frame, frameTypes, preface, prefaceWith, settingIds } from '../floods/frames.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { encodeLogsRequest } from '../protocols/otlp-proto.ts';
import { logsMethod } from './grpc-call.ts';

let service: Service;
const sessions: ClientHttp2Session[] = [];
before(async () => {
  service = await startService();
});
after(async () => {
  for (const session of sessions) session.destroy();
  await service.stop();
});

function connect(settings: http2.Settings = {}): ClientHttp2Session {
  const { ingestUrl, caFile } = service.quickstart;
  const session = http2.connect(ingestUrl, { ca: readFileSync(caFile), settings });
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

const logsPerRequest = 50;
let requests = 0;

interface Export {
  /** Of the bodies of its logs. */
  readonly name: string;
  readonly message: Buffer;
}

/** A framed request of logs whose bodies are unique to it. */
function newExport(): Export {
  const name = `export-${requests++}`;
  const logRecords = Array.from({ length: logsPerRequest }, (_, i) => ({
    body: { stringValue: `${name} ${i}` },
  }));
  const request = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(request.length, 1);
  return { name, message: Buffer.concat([prefix, request]) };
}

interface Call {
  readonly stream: ClientHttp2Stream;
  /** The gRPC status; undefined = the stream ended without one. */
  readonly status: Promise<number | undefined>;
}

function begin(session: ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}): Call {
  const stream = session.request({
    ':method': 'POST',
    ':path': logsMethod,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${service.quickstart.receivers.otlp.token}`,
    ...headers,
  });
  const { promise: status, resolve } = Promise.withResolvers<number | undefined>();
  let code: number | undefined;
  const note = (fields: http2.IncomingHttpHeaders) => {
    if (fields['grpc-status'] !== undefined) code = Number(fields['grpc-status']);
  };
  stream.on('error', () => {});
  stream
    .on('response', note)
    .on('trailers', note)
    .on('close', () => resolve(code));
  stream.resume();
  return { stream, status };
}

/** Resolves once the server has read what was written to the session before. */
async function flushed(session: ClientHttp2Session): Promise<void> {
  if (session.connecting) await once(session, 'connect');
  return new Promise((resolve, reject) => {
    session.ping((error) => (error === null ? resolve() : reject(error)));
  });
}

/** Sends the first half of a message, and waits until the server has it. */
async function beginHalf(headers?: http2.OutgoingHttpHeaders) {
  const session = connect();
  const sent = newExport();
  const { stream, status } = begin(session, headers);
  const half = sent.message.length >> 1;
  stream.write(sent.message.subarray(0, half));
  await flushed(session);
  return { session, stream, status, name: sent.name, rest: sent.message.subarray(half) };
}

function untilMemoryIsFree(): Promise<boolean> {
  return until(async () => (await service.metric('weir_ingest_in_flight_bytes')) === 0, {
    what: 'the memory of requests to be released',
  });
}

/** Acknowledged by a new connection: the service goes on. */
async function assertServes(): Promise<void> {
  const session = connect();
  const { name, message } = newExport();
  const { stream, status } = begin(session);
  stream.end(message);
  assert.equal(await status, 0);
  session.close();
  assert.equal(await storedOf(name), logsPerRequest);
}

/** Logs stored of an export, once the queue is empty. */
async function storedOf(name: string): Promise<number> {
  await until(async () => (await service.metric('weir_queue_batches')) === 0, {
    what: 'the queue to drain',
  });
  const { logs } = await service.list({ search: name, limit: 1000 });
  const own = logs.map(({ message }) => message).filter((text) => text.startsWith(`${name} `));
  assert.equal(new Set(own).size, own.length, `${name} is stored twice`);
  return own.length;
}

/** Exports that broke off, with their gRPC status. */
const broken = new Map<string, number | undefined>();

async function assertWholeOrNothing(name: string, status: number | undefined): Promise<void> {
  broken.set(name, status);
  const stored = await storedOf(name);
  if (status === 0) assert.equal(stored, logsPerRequest, 'an acknowledged export is missing');
  else assert.ok(stored === 0 || stored === logsPerRequest, `${stored} logs are stored`);
}

suite('an export that breaks off', () => {
  test('ends normally after a GOAWAY of its client', async () => {
    const { session, stream, status, name, rest } = await beginHalf();
    session.goaway(constants.NGHTTP2_NO_ERROR);
    stream.end(rest);
    assert.equal(await status, 0);
    assert.equal(await storedOf(name), logsPerRequest);
  });

  test('is stored in whole or not at all if its connection ends', async () => {
    for (const isComplete of [false, true]) {
      const { session, stream, status, name, rest } = await beginHalf();
      if (isComplete) stream.end(rest);
      session.destroy(undefined, constants.NGHTTP2_PROTOCOL_ERROR);
      await assertWholeOrNothing(name, await status);
    }
    await untilMemoryIsFree();
    await assertServes();
  });

  test('is stored in whole or not at all if its stream is reset', async () => {
    const session = connect();
    const begun = Array.from({ length: 60 }, (_, i) => {
      const { name, message } = newExport();
      const { stream, status } = begin(session);
      const bytes = i % 2 === 0 ? message.subarray(0, 5 + i) : message;
      if (i % 2 === 0) stream.write(bytes);
      else stream.end(bytes);
      return { stream, status, name };
    });
    await flushed(session);
    for (const { stream } of begun) stream.close(constants.NGHTTP2_CANCEL);
    for (const { status, name } of begun) await assertWholeOrNothing(name, await status);
    await untilMemoryIsFree();
    const { stream, status } = begin(session);
    stream.end(newExport().message);
    assert.equal(await status, 0, 'the connection goes on');
  });

  test('is not stored once its deadline has passed', async () => {
    const { stream, status, name, rest } = await beginHalf({ 'grpc-timeout': '50m' });
    await sleep(60);
    stream.end(rest);
    assert.equal(await status, 4);
    assert.equal(await storedOf(name), 0);
  });

  test('is acknowledged or not stored in part if the service stops', async () => {
    const { stream, status, name, rest } = await beginHalf();
    const stopped = service.kill('SIGTERM');
    stream.end(rest);
    const code = await status;
    await stopped;
    await service.start();
    await assertWholeOrNothing(name, code);
    await assertServes();
  });

  test('does not keep memory of clients that take no answer', async () => {
    // The status cannot be sent.
    const session = connect({ initialWindowSize: 0, maxConcurrentStreams: 0 });
    const sent = Array.from({ length: 20 }, () => {
      const { name, message } = newExport();
      begin(session).stream.end(message);
      return name;
    });
    for (const name of sent) {
      await until(async () => (await storedOf(name)) === logsPerRequest, { what: name });
    }
    await untilMemoryIsFree();
    session.destroy();
    await assertServes();
  });

  test('stays as it was found, also once all requests have ended', async () => {
    await untilMemoryIsFree();
    for (const [name, status] of broken) await assertWholeOrNothing(name, status);
  });
});

suite('a connection is closed for a flood of', () => {
  const floods: readonly (readonly [name: string, frame: Buffer])[] = [
    ['SETTINGS', frame(frameTypes.settings, {})],
    ['PING', frame(frameTypes.ping, {}, Buffer.alloc(8))],
    ['PRIORITY', frame(frameTypes.priority, { stream: 1 }, Buffer.from([0, 0, 0, 3, 16]))],
    ['WINDOW_UPDATE', frame(frameTypes.windowUpdate, {}, Buffer.from([0, 0, 0, 1]))],
  ];
  for (const [name, one] of floods) {
    test(name, async () => {
      const dialled = await dial(target(), 'h2');
      assert.ok(dialled);
      const { socket } = dialled;
      socket.resume();
      socket.write(preface);
      const many = Buffer.concat(Array.from({ length: 1000 }, () => one));
      await pump(socket, new AbortController().signal, () => many);
      await dialled.closed;
      await assertServes();
    });
  }

  test('entries of one SETTINGS frame', async () => {
    const dialled = await dial(target(), 'h2');
    assert.ok(dialled);
    const entries = Array.from({ length: 2000 }, () => [settingIds.headerTableSize, 0] as const);
    dialled.socket.resume();
    dialled.socket.write(prefaceWith(entries));
    await dialled.closed;
    await assertServes();
  });
});

function target() {
  const { quickstart } = service;
  return { quickstart, port: 'ingest', hasToken: false, from: '127.0.0.1' } as const;
}
