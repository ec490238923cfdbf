/**
 * Graceful shutdown: requests on open connections are answered, and the response announces that
 * the connection closes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as sendRequest } from 'node:https';
import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { type Edge, openEdge, secret } from './edge.ts';

const path = '/v1/receivers/rcv_a/logs';
const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
/** Longer than the tests: connections close before. */
const longNotice = { closing: { noticeMs: 600_000, graceMs: 600_000 } };

/** Sends until the port is closed. @returns the error of its last request */
async function sendOneAfterTheOther(edge: Edge, agent: Agent, answered: () => void) {
  for (;;) {
    const end = await sendOne(edge, agent);
    if (end !== 202) return end;
    answered();
  }
}

function sendOne({ ports, ca }: Edge, agent: Agent): Promise<number | string> {
  const target = { host: '127.0.0.1', servername: 'localhost', port: ports.ingest, ca };
  return new Promise((resolve) => {
    const request = sendRequest({ ...target, agent, path, headers, method: 'POST' });
    request.on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    request.on('response', (response: IncomingMessage) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', ({ message }: Error) => resolve(message));
    });
    request.end('event');
  });
}

test('loses no request of a keep-alive connection while closing', async () => {
  const edge = await openEdge({ server: longNotice });
  const { promise: underLoad, resolve } = Promise.withResolvers<void>();
  let answers = 0;
  const answered = () => {
    answers += 1;
    if (answers === 200) resolve();
  };
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const senders = agents.map((agent) => sendOneAfterTheOther(edge, agent, answered));
  await underLoad;
  const closed = edge.close();
  assert.deepEqual(new Set(await Promise.all(senders)), new Set(['ECONNREFUSED']));
  await closed;
  assert.equal(edge.state.appended.length, answers);
});

test('closes idle connections after the notice period', async () => {
  const edge = await openEdge({ server: { closing: { noticeMs: 1, graceMs: 600_000 } } });
  const agent = new Agent({ keepAlive: true });
  assert.equal(await sendOne(edge, agent), 202);
  const session = connectHttp2(`https://localhost:${edge.ports.ingest}`, { ca: edge.ca });
  const ended = once(session, 'close');
  await once(session, 'remoteSettings');
  await edge.close();
  await ended;
});

test('cuts off requests that take longer than the grace period', async () => {
  const edge = await openEdge({ server: { closing: { noticeMs: 1, graceMs: 2 } } });
  const gate = Promise.withResolvers<void>();
  edge.state.appendGate = gate.promise;
  const ends = sendOne(edge, new Agent());
  const isHeld = async () => /in_flight_bytes [1-9]/.test(await edge.metrics.metrics());
  await until(isHeld, { what: 'the request to be in flight' });
  await edge.close();
  assert.equal(await ends, 'ECONNRESET');
  gate.resolve();
});
