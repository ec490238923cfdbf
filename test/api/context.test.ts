/**
 * One log by id, and its context: a contiguous piece of the total order within its stream, also for
 * many logs of one nanosecond.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { LogRecord } from '../../src/model/plan.ts';
import { createReceiver, createStream, createIngestToken } from '../harness/control.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

interface Context {
  readonly after: readonly LogRecord[];
  readonly log: LogRecord;
  readonly before: readonly LogRecord[];
}

const crowded = '2026-02-02T02:02:02.222222222Z';
const hosts = ['a', 'b', ''];

let service: Service;
/** In the first stream, newest first. */
let all: readonly LogRecord[];

before(async () => {
  service = await joinService();
  const events = (count: number, timestamp: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => ({
      message: `log ${i}`,
      timestamp: timestamp(i),
      host: hosts[i % 3],
      service_name: i % 2 === 0 ? 'even' : 'odd',
      service_namespace: i % 4 === 0 ? 'fours' : 'others',
    }));
  await service.postLogs(events(300, () => crowded));
  await service.postLogs(events(50, (i) => `2026-02-01T00:00:${10 + i}Z`));
  await service.postLogs(events(50, (i) => `2026-02-03T00:00:${10 + i}.5Z`));
  await postToOtherStream(events(20, () => crowded));
  const { streamId } = service.quickstart;
  await until(async () => (await service.facet('severity')).total === 420, { what: 'all logs' });
  all = (await service.list({ streamId, limit: 1_000 })).logs;
  assert.equal(all.length, 400);
});
after(() => service.stop());

async function postToOtherStream(events: unknown): Promise<void> {
  const { streamId } = await createStream(service);
  const { receiverId } = await createReceiver(service, { streamId });
  const { token } = await createIngestToken(service, receiverId);
  const { ingestUrl } = service.quickstart;
  const answer = await service.http.send(`${ingestUrl}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    body: JSON.stringify(events),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  assert.equal(answer.status, 202, answer.text);
}

async function contextOf(logId: string, parameters: Parameters = {}): Promise<Context> {
  const answer = await service.read(`/logs/${logId}/context`, parameters);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<Context>();
}

const idsOf = (logs: readonly LogRecord[]) => logs.map(({ logId }) => logId);

suite('one log', () => {
  test('equals the record of the list, also among logs of the same time', async () => {
    for (const index of [0, 49, 50, 51, 200, 349, 350, 399]) {
      const expected = all[index]!;
      const answer = await service.read(`/logs/${expected.logId}`);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json(), expected);
    }
  });

  test('is found in its stream only', async () => {
    const { logId, streamId } = all[60]!;
    assert.equal((await service.read(`/logs/${logId.toUpperCase()}`, { streamId })).status, 200);
    const streams = (await service.facet('stream')).values.map(({ value }) => value);
    const other = streams.find((id) => id !== streamId)!;
    const answer = await service.read(`/logs/${logId}`, { streamId: other });
    assert.equal(answer.status, 404);
  });

  const unknown = '019c1c1e-5bde-7ded-9234-000000000001';
  for (const path of [`/logs/${unknown}`, `/logs/${unknown}/context`]) {
    test(`${path} does not exist`, async () => {
      const answer = await service.read(path);
      assert.equal(answer.status, 404);
      const { code, detail } = answer.json<{ code: string; detail: string }>();
      assert.equal(code, 'not_found');
      assert.match(detail, /cannot find log 019c1c1e/);
    });
  }

  test('rejects invalid log ids and parameters', async () => {
    for (const path of ['/logs/nonsense', '/logs/00000000-0000-0000-0000-000000000000/context']) {
      const answer = await service.read(path);
      assert.equal(answer.status, 400, path);
      assert.equal(answer.json<{ parameter: string }>().parameter, 'logId');
    }
    const { logId } = all[0]!;
    const refused = [{ before: 201 }, { after: -1 }, { same: 'pod' }, { search: 'x' }];
    for (const parameters of refused) {
      const { status } = await service.read(`/logs/${logId}/context`, parameters);
      assert.equal(status, 400, JSON.stringify(parameters));
    }
  });

  test('other methods are answered with the allowed ones', async () => {
    const { streamUrl } = service.quickstart;
    for (const [path, allow] of [
      [`/logs/${all[0]!.logId}`, 'GET, HEAD, OPTIONS'],
      ['/logs/export', 'GET, HEAD, OPTIONS, POST'],
      ['/exports/x', 'GET, OPTIONS'],
    ] as const) {
      const answer = await service.http.send(`${streamUrl}/api/v1${path}`, { method: 'DELETE' });
      assert.deepEqual([answer.status, answer.headers.allow], [405, allow], path);
    }
  });
});

suite('context', () => {
  test('is a contiguous piece of the list', async () => {
    for (const index of [0, 5, 49, 50, 199, 349, 350, 398, 399]) {
      for (const [newer, older] of [
        [20, 20],
        [3, 200],
        [200, 0],
        [0, 1],
      ] as const) {
        const asked = { after: newer, before: older };
        const { after: above, log, before: below } = await contextOf(all[index]!.logId, asked);
        assert.deepEqual(
          [...above, log, ...below],
          all.slice(Math.max(0, index - newer), index + older + 1),
          `${newer} above and ${older} below ${index}`,
        );
      }
    }
  });

  test('has twenty on each side by default', async () => {
    const { after: above, before: below } = await contextOf(all[200]!.logId);
    assert.deepEqual([above.length, below.length], [20, 20]);
  });

  test('walking from log to log visits everything once', async () => {
    const walked = [all.at(-1)!];
    for (;;) {
      const { after: above } = await contextOf(walked[0]!.logId, { before: 0, after: 33 });
      if (above.length === 0) break;
      walked.unshift(...above);
    }
    assert.deepEqual(idsOf(walked), idsOf(all));
  });

  for (const same of [['host'], ['service'], ['host', 'service']]) {
    test(`of the same ${same.join(' and ')}`, async () => {
      for (const index of [120, 121, 122]) {
        const log = all[index]!;
        const fits = (other: LogRecord) =>
          (!same.includes('host') || other.host === log.host) &&
          (!same.includes('service') ||
            (other.serviceName === log.serviceName &&
              other.serviceNamespace === log.serviceNamespace));
        const found = await contextOf(log.logId, { same, before: 10, after: 10 });
        const above = all.slice(0, index).filter(fits).slice(-10);
        const below = all.slice(index + 1).filter(fits);
        assert.deepEqual(idsOf(found.after), idsOf(above));
        assert.deepEqual(idsOf(found.before), idsOf(below.slice(0, 10)));
      }
    });
  }
});

test('another account sees neither the log nor its context', async () => {
  const created = await service.admin('POST', '/accounts', { name: 'other' });
  assert.equal(created.status, 201, created.text);
  const { accountId } = created.json<{ accountId: string }>();
  const token = await service.admin('POST', '/tokens', {
    type: 'access',
    name: 'other reader',
    accountIds: [accountId],
    scopes: ['logs:read'],
  });
  assert.equal(token.status, 201, token.text);
  const headers = {
    authorization: `Bearer ${token.json<{ token: string }>().token}`,
    'x-active-account': accountId,
  };
  for (const path of ['', '/context']) {
    const url = `${service.quickstart.streamUrl}/api/v1/logs/${all[0]!.logId}${path}`;
    assert.equal((await service.http.send(url, { headers })).status, 404);
  }
});

test('excludes deleted data', async () => {
  const { streamId } = service.quickstart;
  const answer = await service.admin('DELETE', `/streams/${streamId}/data`);
  assert.ok(answer.status < 300, answer.text);
  await until(async () => (await service.read(`/logs/${all[0]!.logId}`)).status === 404, {
    what: 'the log to be deleted',
  });
  assert.equal((await service.read(`/logs/${all[399]!.logId}/context`)).status, 404);
});
