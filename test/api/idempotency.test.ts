/**
 * A request repeated with its Idempotency-Key is stored once and gets the first answer. After a
 * kill: first-run.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

const batchOf = (name: string) => [
  { message: 'one', service_name: name },
  { message: 'two', service_name: name },
  7,
];

/** Number of stored logs of this name, once everything is drained. */
async function stored(name: string, expected: number): Promise<number> {
  const total = async () => (await service.facet('severity', { serviceName: name })).total;
  await until(async () => (await total()) >= expected, { what: `${expected} logs of ${name}` });
  await until(async () => (await service.metric('weir_queue_batches')) === 0, {
    what: 'the queue to drain',
  });
  return total();
}

test('a repeated request gets the first answer and is stored once', async () => {
  const key = { 'idempotency-key': 'repeat-1' };
  const first = await service.postLogs(batchOf('repeat'), key);
  assert.equal(first.status, 202, first.text);
  const second = await service.postLogs(batchOf('repeat'), key);
  assert.equal(second.status, 202, second.text);
  assert.equal(second.text, first.text);
  assert.equal(await stored('repeat', 2), 2);
});

test('twenty concurrent requests are stored once', async () => {
  const key = { 'idempotency-key': 'at-once' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => service.postLogs(batchOf('at-once'), key)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(await stored('at-once', 2), 2);
});

test('the same key with another body is 400 and stores nothing', async () => {
  const key = { 'idempotency-key': 'other-body' };
  assert.equal((await service.postLogs(batchOf('other-body'), key)).status, 202);
  const other = await service.postLogs([{ message: 'three', service_name: 'other-body' }], key);
  assert.equal(other.status, 400, other.text);
  assert.equal(await stored('other-body', 2), 2);
});

test('the same key at another receiver is independent', async () => {
  const { receiverId } = await createReceiver(service);
  const { token } = await createIngestToken(service, receiverId);
  const key = { 'idempotency-key': 'two-receivers' };
  assert.equal((await service.postLogs(batchOf('two-receivers'), key)).status, 202);
  const { ingestUrl } = service.quickstart;
  const elsewhere = await service.http.send(`${ingestUrl}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...key,
    },
    body: JSON.stringify(batchOf('two-receivers')),
  });
  assert.equal(elsewhere.status, 202, elsewhere.text);
  assert.equal(await stored('two-receivers', 4), 4);
});

test('a refused request releases its key', async () => {
  const key = { 'idempotency-key': 'refused-first' };
  assert.equal((await service.postLogs('{', key)).status, 400);
  assert.equal((await service.postLogs(batchOf('refused-first'), key)).status, 202);
  assert.equal(await stored('refused-first', 2), 2);
});
