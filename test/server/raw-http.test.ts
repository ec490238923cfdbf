/** Requests that Node's HTTP/1.1 parser accepts and a strict server rejects, byte by byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { connectRaw, sendRaw } from './client.ts';
import { type Edge, openEdge } from './edge.ts';

let edge: Edge;
before(async () => {
  edge = await openEdge({ limits: { keepAliveTimeoutMs: 100 } });
});
after(() => edge.close());

const path = '/v1/receivers/rcv_a/logs';
const auth = 'Authorization: Bearer wri_good\r\nContent-Type: application/json\r\n';
/** The headers before the part under test. */
const post = `POST ${path} HTTP/1.1\r\nHost: a\r\n${auth}`;
/** Must not be handled: it follows a malformed request. */
const smuggled = `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`;
const chunkedBody = '5\r\nevent\r\n0\r\n\r\n';

const chunkedBoth = `Transfer-Encoding: chunked\r\n\r\n${chunkedBody}`;

const cases: readonly { name: string; status: number; closes: boolean; bytes: string }[] = [
  {
    name: 'a transfer coding beside chunked',
    status: 400,
    closes: true,
    bytes: `${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunkedBody}`,
  },
  {
    name: 'two Host headers',
    status: 400,
    closes: true,
    bytes: `POST ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n${auth}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'no Host header',
    status: 400,
    closes: true,
    bytes: `POST ${path} HTTP/1.1\r\n${auth}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'chunks on HTTP/1.0',
    status: 400,
    closes: true,
    bytes: `POST ${path} HTTP/1.0\r\nHost: a\r\n${auth}${chunkedBoth}`,
  },
  {
    name: 'a version that is none',
    status: 400,
    closes: true,
    bytes: `POST ${path} HTTP/2.0\r\nHost: a\r\n${auth}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'a whole URL as target',
    status: 400,
    closes: true,
    bytes: `POST https://localhost${path} HTTP/1.1\r\nHost: a\r\n${auth}Content-Length: 0\r\n\r\n`,
  },
  {
    name: 'length and chunks at once',
    status: 400,
    closes: true,
    bytes: `${post}Content-Length: 5\r\n${chunkedBoth}`,
  },
  {
    name: 'two lengths',
    status: 400,
    closes: true,
    bytes: `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nevent`,
  },
  {
    name: 'a signed length',
    status: 400,
    closes: true,
    bytes: `${post}Content-Length: +5\r\n\r\nevent`,
  },
  {
    name: 'a space before the colon',
    status: 400,
    closes: true,
    bytes: `POST ${path} HTTP/1.1\r\nHost : a\r\n${auth}Content-Length: 5\r\n\r\nevent`,
  },
  {
    name: 'bytes that are no HTTP',
    status: 400,
    closes: true,
    bytes: 'hello\r\n\r\n',
  },
  {
    name: 'headers beyond 16 KiB',
    status: 431,
    closes: true,
    bytes: `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  },
  {
    name: 'an expectation other than 100-continue',
    status: 417,
    closes: false,
    bytes: `${post}Expect: tea\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    name: 'CONNECT',
    status: 405,
    closes: true,
    bytes: `CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n`,
  },
  {
    name: 'TRACE',
    status: 404,
    closes: false,
    bytes: `TRACE ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  },
  {
    name: 'an unknown method',
    status: 404,
    closes: false,
    bytes: `PROPFIND ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  },
];

for (const { name, status, closes, bytes } of cases) {
  test(`${name} is ${status}`, async () => {
    const already = edge.state.appended.length;
    const answer = await sendRaw({ port: edge.ports.ingest, ca: edge.ca }, bytes + smuggled);
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => match[1]);
    assert.equal(statuses[0], String(status), answer);
    if (status !== 404) {
      assert.match(answer, /^content-type: application\/problem\+json\r$/m);
      assert.match(answer, /^cache-control: private, no-store\r$/m);
      assert.match(answer, /"requestId":"[\w-]+"/);
    }
    if (closes) assert.equal(statuses.length, 1, `a second request was executed: ${answer}`);
    assert.equal(edge.state.appended.length, already);
    assert.deepEqual(edge.state.logged, []);
  });
}

const good = `${post}Content-Length: 5\r\n\r\nevent`;

for (const [name, status, bytes] of [
  ['bytes that are no HTTP', 400, 'hello\r\n\r\n'],
  ['a broken body', 400, `${post}Transfer-Encoding: chunked\r\n\r\n5\r\nevent\r\nhello\r\n`],
  ['CONNECT', 405, 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
] as const) {
  test(`${name} after two requests is answered after them`, async () => {
    const already = edge.state.appended.length;
    const answer = await sendRaw({ port: edge.ports.ingest, ca: edge.ca }, good + good + bytes);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
    assert.deepEqual(statuses, [202, 202, status]);
    assert.equal(edge.state.appended.length, already + 2);
  });
}

test('CONNECT behind a request without an answer is closed when idle', async () => {
  const hasty = await openEdge({ limits: { idleTimeoutMs: 300 } });
  const { promise, resolve } = Promise.withResolvers<void>();
  hasty.state.appendGate = promise;
  const connection = { port: hasty.ports.ingest, ca: hasty.ca };
  const answer = await sendRaw(connection, `${good}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.equal(answer, '');
  resolve();
  await hasty.close();
});

test('a body that breaks after its answer gets no other one', async () => {
  const size = 20_000;
  const head = post.replace('wri_good', 'wri_bad');
  const socket = connectRaw({ port: edge.ports.ingest, ca: edge.ca }, () => {
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`);
    socket.write('x'.repeat(size));
  });
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'data');
  socket.write('\r\nhello\r\n');
  await once(socket, 'close');
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 401']);
});

test('answers a client that closes its side after the request', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  edge.state.appendGate = promise;
  const socket = connectRaw({ port: edge.ports.ingest, ca: edge.ca }, () => socket.end(good));
  socket.once('finish', () => setImmediate(resolve));
  const chunks = (await socket.toArray()) as Buffer[];
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 202 /);
});

test('answers 431 to headers that are too large', async () => {
  const bytes = `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
  const answer = await sendRaw({ port: edge.ports.ingest, ca: edge.ca }, bytes);
  assert.match(answer, /its headers are larger than 16384 bytes/);
});

test('accepts chunked bodies on HTTP/1.1', async () => {
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n${auth}Connection: close\r\n`;
  const bytes = `${head}Transfer-Encoding: chunked\r\n\r\n${chunkedBody}`;
  const answer = await sendRaw({ port: edge.ports.ingest, ca: edge.ca }, bytes);
  assert.match(answer, /^HTTP\/1\.1 202 /);
});

test('the ops port answers 400 to TLS, and closes', async () => {
  const socket = connect(edge.ports.ops, '127.0.0.1');
  socket.write(Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'latin1'));
  const chunks = (await socket.toArray()) as Buffer[];
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 400 /);
});
