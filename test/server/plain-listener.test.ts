/** The ports without TLS: HTTP/1.1, h2c, gRPC, the PROXY header, and who may connect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { sendPlain } from '../harness/http.ts';
import { until } from '../harness/until.ts';
import { freePort } from '../senders/program.ts';
import { addReceiver, addToken, type Edge, openEdge, secret } from './edge.ts';
import { exportPath, openGrpcEdge } from './grpc-edge.ts';

const path = '/v1/receivers/rcv_a/logs';
const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
const post = { method: 'POST', headers, body: 'one\ntwo' };
const raw =
  `POST /v1/receivers/rcv_far/logs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
  'Authorization: Bearer wri_far\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\none';

let edge: Edge;
let proxied: Edge;
const ports = { ingest: 0, stream: 0, proxied: 0 };
before(async () => {
  for (const name of ['ingest', 'stream', 'proxied'] as const) ports[name] = await freePort();
  const at = (port: number) => ({ host: '127.0.0.1', port });
  const trusted = { trustedProxies: ['127.0.0.1/32'] };
  edge = await openEdge({
    limits: { headersTimeoutMs: 300 },
    admission: trusted,
    server: {
      plain: { ingest: at(ports.ingest), stream: at(ports.stream), hasProxyHeader: false },
    },
  });
  proxied = await openEdge({
    server: { plain: { ingest: at(ports.proxied), stream: undefined, hasProxyHeader: true } },
  });
  for (const { state } of [edge, proxied]) {
    addReceiver(state, 'rcv_far', { allowedCidrs: ['192.0.2.0/24'] });
    addToken(state, 'wri_far', { receiverId: 'rcv_far' });
  }
});
after(() => Promise.all([edge.close(), proxied.close()]));

test('serves HTTP/1.1 without TLS', async () => {
  const answer = await sendPlain(`http://127.0.0.1:${ports.ingest}${path}`, post);
  assert.deepEqual([answer.status, answer.text], [202, '{"accepted":2}']);
  const stream = await sendPlain(`http://127.0.0.1:${ports.stream}/healthz`);
  assert.equal(stream.headers['cache-control'], 'private, no-store');
});

test('answers a client that closes its side after the request', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  edge.state.appendGate = promise;
  const socket = await open(ports.ingest);
  const answer = answerOf(socket);
  socket.end(raw.replaceAll('far', 'a').replace('wri_a', secret));
  await sendPlain(`http://127.0.0.1:${ports.ingest}/healthz`);
  resolve();
  assert.match(await answer, /^HTTP\/1\.1 202 /);
});

test('serves HTTP/2 with prior knowledge', async () => {
  const session = connectHttp2(`http://127.0.0.1:${ports.ingest}`);
  const statuses = await Promise.all(
    [1, 2, 3].map(async () => {
      const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
      stream.end('one');
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      return answer[':status'];
    }),
  );
  session.close();
  assert.deepEqual(statuses, [202, 202, 202]);
});

test('takes the client from X-Forwarded-For of a trusted proxy', async () => {
  const url = `http://127.0.0.1:${ports.ingest}/v1/receivers/rcv_far/logs`;
  const far = { ...post, headers: { ...headers, authorization: 'Bearer wri_far' } };
  const from = async (address: string) =>
    (await sendPlain(url, { ...far, headers: { ...far.headers, 'x-forwarded-for': address } }))
      .status;
  assert.equal(await from('198.51.100.1, 192.0.2.7'), 202);
  assert.equal(await from('192.0.2.7, 198.51.100.1'), 403);
});

test('refuses what reached the proxy without TLS', async () => {
  const answer = await sendPlain(`http://127.0.0.1:${ports.ingest}${path}`, {
    ...post,
    headers: { ...headers, 'x-forwarded-proto': 'http' },
  });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /X-Forwarded-Proto: http .*use https/);
});

test('answers invalid HTTP/1.1, and closes connections that send nothing', async () => {
  assert.match(await exchange(ports.ingest, 'hello\r\n\r\n'), /^HTTP\/1\.1 400 /);
  assert.equal(await exchange(ports.ingest, ''), '');
});

for (const [name, header] of Object.entries({
  'version 1': Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 51000 443\r\n'),
  'version 2': Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000207c0000201c73801bb', 'hex'),
})) {
  test(`takes the client from the PROXY header, ${name}, whole and byte by byte`, async () => {
    const whole = Buffer.concat([header, Buffer.from(raw)]);
    assert.match(await exchange(ports.proxied, whole), /^HTTP\/1\.1 202 /);
    const socket = await open(ports.proxied);
    for (const byte of whole) {
      await new Promise((written) => socket.write(Buffer.of(byte), written));
    }
    assert.match(await answerOf(socket), /^HTTP\/1\.1 202 /);
  });
}

test('rejects a client outside the ranges of the receiver, named by the PROXY header', async () => {
  const header = 'PROXY TCP4 198.51.100.7 192.0.2.1 51000 443\r\n';
  assert.match(await exchange(ports.proxied, header + raw), /^HTTP\/1\.1 403 /);
});

test('closes a connection without a PROXY header where one is required', async () => {
  assert.equal(await exchange(ports.proxied, raw), '');
  await until(
    async () =>
      /cut_total{surface="ingest",reason="parse"} 1/.test(await proxied.metrics.metrics()),
    { what: 'the count of the closed connection' },
  );
});

test('serves gRPC without TLS', async () => {
  const port = await freePort();
  const plain = { ingest: { host: '127.0.0.1', port }, stream: undefined, hasProxyHeader: false };
  const grpcEdge = await openGrpcEdge({ server: { plain } });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${secret}`);
  const asIs = (bytes: Buffer) => bytes;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  client.makeUnaryRequest(
    exportPath,
    asIs,
    asIs,
    Buffer.from('one\ntwo'),
    metadata,
    (error, reply) => (error ? reject(error) : resolve(reply)),
  );
  assert.equal(String(await promise), 'accepted 2');
  client.close();
  await grpcEdge.close();
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await open(port);
  if (bytes.length > 0) socket.write(bytes);
  return answerOf(socket);
}

async function answerOf(socket: Socket): Promise<string> {
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => {});
  await once(socket, 'close');
  return answer;
}
