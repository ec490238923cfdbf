/** Retries with an Idempotency-Key over HTTP: one request is stored, the others get its answer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/model/errors.ts';
import { sendHttp1 } from '../server/client.ts';
import { addReceiver, addToken, type Edge, openEdge } from '../server/edge.ts';

let edge: Edge;
before(async () => {
  edge = await openEdge();
});
after(() => edge.close());

function post(key: string, body: string, receiver = 'rcv_a', token = 'wri_good') {
  return sendHttp1(
    { port: edge.ports.ingest, ca: edge.ca },
    {
      method: 'POST',
      path: `/v1/receivers/${receiver}/logs`,
      headers: [
        ['Authorization', `Bearer ${token}`],
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', key],
      ],
      body,
    },
  );
}

const appended = () => edge.state.appended.length;

test('a repeated request gets the first answer and is not stored or charged', async () => {
  const limits = { eventsPerSecond: 1, burstEvents: 3, maxBodyBytes: null };
  addReceiver(edge.state, 'rcv_q', { limits });
  addToken(edge.state, 'wri_q', { receiverId: 'rcv_q' });
  const first = await post('k1', 'a\nb', 'rcv_q', 'wri_q');
  assert.equal(first.status, 202);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  const count = appended();
  for (let times = 0; times < 5; times += 1) {
    const again = await post('k1', 'a\nb', 'rcv_q', 'wri_q');
    assert.deepEqual([again.status, again.body], [202, first.body]);
    assert.equal(again.headers['idempotency-replayed'], 'true');
  }
  assert.equal(appended(), count);
});

test('the same key with another body is 400', async () => {
  assert.equal((await post('k2', 'a')).status, 202);
  const other = await post('k2', 'b');
  assert.equal(other.status, 400);
  assert.match(other.body, /"parameter":"Idempotency-Key"/);
});

test('a key belongs to its receiver', async () => {
  addReceiver(edge.state, 'rcv_z', {});
  addToken(edge.state, 'wri_z', { receiverId: 'rcv_z' });
  assert.equal((await post('k3', 'a')).status, 202);
  const elsewhere = await post('k3', 'b', 'rcv_z', 'wri_z');
  assert.equal(elsewhere.status, 202);
  assert.equal(elsewhere.headers['idempotency-replayed'], undefined);
});

test('a concurrent duplicate waits for the first', async () => {
  const gate = Promise.withResolvers<void>();
  edge.state.appendGate = gate.promise;
  const count = appended();
  const answers = [post('k4', 'a'), post('k4', 'a'), post('k4', 'a')];
  while (!/in_flight_bytes 1[23]\d{3}/.test(await edge.metrics.metrics())) await sleep(5);
  gate.resolve();
  const settled = await Promise.all(answers);
  assert.deepEqual(
    settled.map(({ status }) => status),
    [202, 202, 202],
  );
  const replayed = settled.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
  assert.equal(replayed.length, 2);
  assert.equal(appended(), count + 1);
});

test('after a failed first request the next one counts', async () => {
  edge.state.appendFault = new AppError('unavailable', 'cannot append');
  assert.equal((await post('k5', 'a')).status, 503);
  edge.state.appendFault = undefined;
  assert.equal((await post('k5', 'bad')).status, 400);
  const taken = await post('k5', 'a');
  assert.deepEqual([taken.status, taken.headers['idempotency-replayed']], [202, undefined]);
});
