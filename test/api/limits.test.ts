/** Configured limits of section 8, and the refusal 503 of section 7. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isScaledSet, startService, type Service } from '../harness/service.ts';

suite('a service with small limits', () => {
  let service: Service;
  before(async () => {
    service = await startService({
      flags: ['--ingest-json-max-body-bytes', '200', '--ingest-json-max-events', '3'],
    });
  });
  after(() => service.stop());

  test('413: one byte over the limit, and exactly the limit is accepted', async () => {
    const sized = (bytes: number) => JSON.stringify({ message: 'x'.repeat(bytes - 14) });
    assert.equal(sized(200).length, 200);
    const most = await service.postLogs(sized(200));
    assert.equal(most.status, 202, most.text);
    const over = await service.postLogs(sized(201));
    assert.equal(over.status, 413, over.text);
    assert.match(over.text, /200/);
  });

  test('413: one event over the limit, named in the answer', async () => {
    const event = { message: 'a' };
    assert.equal((await service.postLogs([event, event, event])).status, 202);
    const over = await service.postLogs([event, event, event, event]);
    assert.equal(over.status, 413, over.text);
    assert.match(over.text, /3/);
  });

  test('413: a chunked body that grows over the limit', async () => {
    const { url, token } = service.quickstart.receivers.http_json;
    const answer = await service.http.send(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
      },
      body: JSON.stringify({ message: 'x'.repeat(500) }),
    });
    assert.equal(answer.status, 413, answer.text);
  });
});

const hasNoLog = isScaledSet && 'the queue is no log on this disk';

suite('a service with a full disk', { skip: hasNoLog }, () => {
  let service: Service;
  before(async () => {
    const bytes = String(1024 * 2 ** 30);
    service = await startService({
      flags: ['--queue-min-free-disk-bytes', bytes],
      isReadyExpected: false,
    });
  });
  after(() => service.stop());

  test('503 with Retry-After without loss, and reads go on', async () => {
    const answer = await service.postLogs({ message: 'a' });
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.headers['retry-after'] ?? '', /^[1-5]$/);
    assert.doesNotMatch(answer.text, /\/(tmp|data)\//, 'the error must not contain a path');
    assert.deepEqual((await service.list()).logs, []);
  });
});
