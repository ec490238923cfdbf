/** When a body is read, awaited, discarded or cut off, over both transports. */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRaw, type HeaderList, sendHttp2AndReset, sendRaw, transports } from './client.ts';
import { type Edge, openEdge } from './edge.ts';

const json = ['Content-Type', 'application/json'] as const;
const good = ['Authorization', 'Bearer wri_good'] as const;
const expect = ['Expect', '100-continue'] as const;
const path = '/v1/receivers/rcv_a/logs';
const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
const goodHead = `${head}Authorization: Bearer wri_good\r\n`;

let edge: Edge;
/** Short timeouts, for the senders that are slow on purpose. */
let hasty: Edge;
const target = ({ ports, ca } = edge) => ({ port: ports.ingest, ca });
before(async () => {
  const protocol = { maxBodyBytes: 2_000_000 };
  edge = await openEdge({ protocol });
  hasty = await openEdge({
    limits: { headersTimeoutMs: 2000, idleTimeoutMs: 5000 },
    admission: { bodyPace: { timeoutMs: 900, graceMs: 300, minBytesPerSecond: 1000 } },
    protocol,
  });
});
after(() => Promise.all([edge.close(), hasty.close()]));

for (const [transport, send] of Object.entries(transports)) {
  const sendHead = (headers: HeaderList, to = edge) =>
    send(target(to), { method: 'POST', path, headers, body: undefined });

  test(`${transport}: refuses after the headers if no body is needed`, async () => {
    const length = ['Content-Length', '5'] as const;
    assert.equal((await sendHead([json, length])).status, 401);
    assert.equal((await sendHead([good, length])).status, 415);
    assert.equal((await sendHead([good, json, ['Content-Length', '2000001']])).status, 413);
    const { status } = await send(target(), {
      method: 'POST',
      path: `${path}/logs`,
      headers: [good, json, length],
      body: undefined,
    });
    assert.equal(status, 404);
  });

  test(`${transport}: answers 100-continue with a refusal or one 100 Continue`, async () => {
    const body = 'event';
    const refused = await send(target(), { method: 'POST', path, headers: [json, expect], body });
    assert.deepEqual([refused.status, refused.continued], [401, false]);
    const large = { method: 'POST', path, body: 'x'.repeat(2_000_001) };
    const length = ['Content-Length', '2000001'] as const;
    const tooLarge = await send(target(), { ...large, headers: [good, json, expect, length] });
    assert.deepEqual([tooLarge.status, tooLarge.continued], [413, false]);
    const taken = await send(target(), {
      method: 'POST',
      path,
      headers: [good, json, expect],
      body,
    });
    assert.deepEqual([taken.status, taken.continued], [202, true]);
  });

  test(`${transport}: delivers a refusal to a sender that is still sending`, async () => {
    const body = Buffer.alloc(1_900_000, 'x');
    const answer = await send(target(), { method: 'POST', path, headers: [json], body });
    assert.equal(answer.status, 401);
  });

  test(`${transport}: times out a body that never arrives`, async () => {
    const answer = await sendHead([good, json, ['Content-Length', '5']], hasty);
    assert.equal(answer.status, 408);
  });

  test(`${transport}: answers 413 to a body over the limit without a declared length`, async () => {
    const answer = await send(target(), {
      method: 'POST',
      path,
      headers: [good, json, ...(transport === 'HTTP/1.1' ? [chunked] : [])],
      body: Buffer.alloc(2_000_001, 'x'),
    });
    assert.equal(answer.status, 413);
  });
}
const chunked = ['Transfer-Encoding', 'chunked'] as const;

test('answers slow headers with 408 and closes the connection', async () => {
  const answer = await sendRaw(target(hasty), `POST ${path} HTTP/1.1\r\nHost: a\r\n`);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test('answers a slow body with 408 and closes the connection', async () => {
  let trickle: NodeJS.Timeout | undefined;
  const socket = connectRaw(target(hasty), () => {
    socket.write(`${goodHead}Content-Length: 900\r\n\r\n`);
    trickle = setInterval(() => socket.write('x'), 20);
  });
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  clearInterval(trickle);
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.match(answer, /connection: close/i);
});

test('stores nothing of a body that breaks off', async () => {
  const already = edge.state.appended.length;
  const socket = connectRaw(target(), () => socket.end(`${goodHead}Content-Length: 5\r\n\r\nab`));
  for await (const _ of socket);
  for (const code of [http2.constants.NGHTTP2_CANCEL, http2.constants.NGHTTP2_NO_ERROR]) {
    await sendHttp2AndReset(target(), path, code);
  }
  const whole = await transports['HTTP/1.1'](target(), {
    method: 'POST',
    path,
    headers: [good, json],
    body: 'event',
  });
  assert.equal(whole.status, 202);
  assert.equal(edge.state.appended.length, already + 1);
  assert.deepEqual(edge.state.logged, []);
});

test('answers 503 before the body while the memory in flight is used up', async (t) => {
  const small = await openEdge({ admission: { maxInFlightBytes: 10_000 } });
  t.after(() => small.close());
  const { promise, resolve } = Promise.withResolvers<void>();
  small.state.appendGate = promise;
  const to = { port: small.ports.ingest, ca: small.ca };
  const send = transports['HTTP/1.1'];
  const sent = { method: 'POST', path, headers: [good, json], body: 'x'.repeat(900) };
  const first = send(to, sent);
  while (!/in_flight_bytes [1-9]/.test(await small.metrics.metrics())) await sleep(5);
  const second = await send(to, { ...sent, body: undefined, headers: [good, json, chunked] });
  assert.equal(second.status, 503);
  assert.match(String(second.headers['retry-after']), /^[1-5]$/);
  resolve();
  assert.equal((await first).status, 202);
  assert.match(await small.metrics.metrics(), /in_flight_bytes 0/);
  assert.equal((await send(to, sent)).status, 202);
});

test('waits for requests in flight while closing, and accepts no new ones', async () => {
  const closing = await openEdge({ server: { closing: { noticeMs: 0, graceMs: 5000 } } });
  const { promise, resolve } = Promise.withResolvers<void>();
  closing.state.appendGate = promise;
  const to = { port: closing.ports.ingest, ca: closing.ca };
  const sent = { method: 'POST', path, headers: [good, json], body: 'event' };
  const underWay = Object.values(transports).map((send) => send(to, sent));
  while (!/in_flight_bytes 82/.test(await closing.metrics.metrics())) await sleep(5);
  const closed = closing.close();
  await assert.rejects(transports['HTTP/1.1'](to, sent));
  resolve();
  assert.deepEqual(
    (await Promise.all(underWay)).map(({ status }) => status),
    [202, 202],
  );
  await closed;
});
