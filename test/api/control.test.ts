/** Changes by an operator apply to traffic, and work from the command line. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createIngestToken, createReceiver, createStream } from '../harness/control.ts';
import { joinService } from '../harness/joined-service.ts';
import { isScaledSet, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startWeir } from '../harness/weir-process.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

function post(receiverId: string, token: string, events: unknown) {
  return service.http.send(`${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
}

suite('the control API', () => {
  test('a deletion of data hides existing logs and keeps later ones', async () => {
    const { streamId } = await createStream(service);
    const { receiverId } = await createReceiver(service, { streamId });
    const { token } = await createIngestToken(service, receiverId);
    const messages = async () =>
      (await service.list({ streamId })).logs.map(({ message }) => message);
    await post(receiverId, token, { message: 'old' });
    await until(async () => (await messages()).length === 1, { what: 'the old log' });
    const deleted = await service.admin('DELETE', `/streams/${streamId}/data`);
    assert.ok([200, 202, 204].includes(deleted.status), deleted.text);
    await until(async () => (await messages()).length === 0, { what: 'the old log to be deleted' });
    await post(receiverId, token, { message: 'new' });
    await until(async () => (await messages()).includes('new'), { what: 'the new log' });
    assert.deepEqual(await messages(), ['new']);
  });

  test('a rotated token stops working within 5 s and its successor works at once', async () => {
    const { receiverId } = await createReceiver(service);
    const { token, tokenId } = await createIngestToken(service, receiverId);
    assert.equal((await post(receiverId, token, { message: 'a' })).status, 202);
    const rotated = await service.admin('POST', `/tokens/${tokenId}/rotate`);
    assert.equal(rotated.status, 200, rotated.text);
    const successor = rotated.json<{ token: string }>().token;
    assert.equal((await post(receiverId, successor, { message: 'a' })).status, 202);
    await until(async () => (await post(receiverId, token, { message: 'a' })).status === 401, {
      what: 'the old secret to stop working',
      timeoutMs: 10_000,
    });
  });

  test('no response and no file except quickstart.json has a secret', async () => {
    const listed = await service.admin('GET', '/tokens');
    assert.equal(listed.status, 200, listed.text);
    assert.doesNotMatch(listed.text, /wr[ia]_[A-Za-z0-9_-]{20}/);
    const logged = service.process.logs.map(({ raw }) => raw).join('\n');
    assert.doesNotMatch(logged, /wr[ia]_[A-Za-z0-9_-]{20}/);
  });
});

suite('the command line', () => {
  // A named data directory overrides the directory URL.
  const place = () => (isScaledSet ? [] : ['--data', service.dataDir]);
  const weir = async (...args: string[]) => {
    const process_ = startWeir([...args, ...place(), '--json'], service.env);
    const { code } = await process_.exited;
    const said = process_.logs.map(({ raw }) => raw).join('\n');
    return { code, said, answer: () => JSON.parse(process_.stdout()) as Record<string, string> };
  };

  test('creates a working stream, receiver and token', async () => {
    const stream = await weir('stream', 'create', 'by command');
    assert.equal(stream.code, 0, stream.said);
    const { streamId = '' } = stream.answer();
    const kind = ['--kind', 'http_json', '--stream', streamId];
    const receiver = await weir('receiver', 'create', 'by command', ...kind);
    assert.equal(receiver.code, 0, receiver.said);
    const { receiverId = '' } = receiver.answer();
    const issued = await weir('token', 'create', 'by command', '--receiver', receiverId);
    assert.equal(issued.code, 0, issued.said);
    const answer = await post(receiverId, issued.answer()['token'] ?? '', { message: 'a' });
    assert.equal(answer.status, 202, answer.text);
  });

  test('recovers an operator token from the data directory', async () => {
    const recovered = await weir('token', 'recover');
    assert.equal(recovered.code, 0, recovered.said);
    const token = recovered.answer()['token'] ?? '';
    const { streamUrl } = service.quickstart;
    const answer = await service.http.send(`${streamUrl}/api/v1/admin/accounts`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(answer.status, 200, answer.text);
  });

  test('fails with a sentence and an exit code', async () => {
    const unknown = await weir('receiver', 'show', 'rcv_nobody');
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.said, /^weir: cannot /);
  });
});
