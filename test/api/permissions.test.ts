/** Permissions: section 5 of the specification, and the refusals 403 and 429 of section 7. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  createAccessToken,
  createIngestToken,
  createReceiver,
  createStream,
} from '../harness/control.ts';
import type { Answer } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

function post(receiverId: string, token: string, events: unknown): Promise<Answer> {
  return service.http.send(`${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
}

function read(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return service.http.send(`${service.quickstart.streamUrl}/api/v1${path}`, { headers });
}

const event = { message: 'hello' };
const histogramPath = '/histogram?startTime=2026-01-01T00:00:00Z&endTime=2026-01-02T00:00:00Z';

suite('5: senders', () => {
  test('a token bound to another receiver is 403', async () => {
    const other = await createReceiver(service);
    const answer = await post(
      other.receiverId,
      service.quickstart.receivers.http_json.token,
      event,
    );
    assert.equal(answer.status, 403, answer.text);
  });

  test('a receiver of another protocol is 403', async () => {
    const { receiverId } = await createReceiver(service, { kind: 'prometheus' });
    const { token: secret } = await createIngestToken(service, receiverId);
    const answer = await post(receiverId, secret, event);
    assert.equal(answer.status, 403, answer.text);
  });

  test('a token without ingest:write is 403', async () => {
    const { receiverId } = await createReceiver(service);
    const { token: secret } = await createIngestToken(service, receiverId, []);
    const answer = await post(receiverId, secret, event);
    assert.equal(answer.status, 403, answer.text);
  });

  test('an inactive receiver is 403 within 5 s, a reactivated one 202 again', async () => {
    const { receiverId } = await createReceiver(service);
    const { token: secret } = await createIngestToken(service, receiverId);
    assert.equal((await post(receiverId, secret, event)).status, 202);
    const statusBecomes = (status: number) =>
      until(async () => (await post(receiverId, secret, event)).status === status, {
        what: `status ${status}`,
        timeoutMs: 10_000,
      });
    await service.admin('PATCH', `/receivers/${receiverId}`, { active: false });
    await statusBecomes(403);
    await service.admin('PATCH', `/receivers/${receiverId}`, { active: true });
    await statusBecomes(202);
  });

  test('an address outside the allowed ranges is 403, whatever X-Forwarded-For says', async () => {
    const { receiverId } = await createReceiver(service, { allowedCidrs: ['192.0.2.0/24'] });
    const { token: secret } = await createIngestToken(service, receiverId);
    const { ingestUrl } = service.quickstart;
    const answer = await service.http.send(`${ingestUrl}/v1/receivers/${receiverId}/logs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'x-forwarded-for': '192.0.2.1',
      },
      body: JSON.stringify(event),
    });
    assert.equal(answer.status, 403, answer.text);
  });

  test('a revoked token is 401 within 5 s', async () => {
    const { receiverId } = await createReceiver(service);
    const { token: secret, tokenId } = await createIngestToken(service, receiverId);
    assert.equal((await post(receiverId, secret, event)).status, 202);
    const revoked = await service.admin('POST', `/tokens/${tokenId}/revoke`);
    assert.equal(revoked.status, 200, revoked.text);
    await until(async () => (await post(receiverId, secret, event)).status === 401, {
      what: 'the revocation to take effect',
      timeoutMs: 10_000,
    });
  });

  test('429: over the event limit of the receiver, with Retry-After', async () => {
    const { receiverId } = await createReceiver(service, {
      limits: { eventsPerSecond: 1, burstEvents: 5, maxBodyBytes: null },
    });
    const { token: secret } = await createIngestToken(service, receiverId);
    const first = await post(
      receiverId,
      secret,
      Array.from({ length: 100 }, () => event),
    );
    assert.equal(first.status, 202, 'a batch over the burst leaves a debt');
    const second = await post(receiverId, secret, event);
    assert.equal(second.status, 429, second.text);
    assert.match(second.headers['retry-after'] ?? '', /^[1-5]$/);
  });
});

suite('5: readers', () => {
  const bearer = () => ({ authorization: `Bearer ${service.quickstart.accessToken}` });
  const account = () => ({ 'x-active-account': service.quickstart.accountId });

  test('401: no token, an unknown one, an ingest token', async () => {
    const ingest = service.quickstart.receivers.http_json.token;
    const cases = [
      {},
      { authorization: '' },
      { authorization: 'Basic dXNlcjpwYXNz' },
      { authorization: 'Bearer wra_unknown' },
      { authorization: `Bearer ${ingest}` },
    ];
    for (const headers of cases) {
      const answer = await read('/logs', { ...account(), ...headers });
      assert.equal(answer.status, 401, `${JSON.stringify(headers)}: ${answer.text}`);
    }
  });

  test('400: X-Active-Account missing or not a UUID', async () => {
    assert.equal((await read('/logs', bearer())).status, 400);
    assert.equal((await read('/logs', { ...bearer(), 'x-active-account': 'me' })).status, 400);
  });

  test('403: an account that the token does not cover', async () => {
    const { token: secret } = await createAccessToken(service, ['logs:read']);
    const answer = await read('/logs', {
      authorization: `Bearer ${secret}`,
      'x-active-account': '11111111-2222-4333-8444-555555555555',
    });
    assert.equal(answer.status, 403, answer.text);
  });

  test('/logs needs logs:read; histogram and facets need analytics:read', async () => {
    const matrix = [
      { scopes: ['logs:read'], logs: 200, analytics: 403 },
      { scopes: ['analytics:read'], logs: 403, analytics: 200 },
      { scopes: ['metrics:read'], logs: 403, analytics: 403 },
    ] as const;
    for (const { scopes, logs, analytics } of matrix) {
      const { token: secret } = await createAccessToken(service, scopes);
      const headers = { authorization: `Bearer ${secret}`, ...account() };
      const statuses = {
        '/logs': logs,
        [histogramPath]: analytics,
        '/facets?field=host': analytics,
        '/stats?startTime=1&endTime=2': analytics,
        '/compare': analytics,
        '/fields': analytics,
        '/fields/label.a%2Fb/values': analytics,
        '/facets/batch?fields=host,severity': analytics,
      };
      for (const [path, status] of Object.entries(statuses)) {
        const answer = await read(path, headers);
        assert.equal(answer.status, status, `${scopes.join()} ${path}: ${answer.text}`);
      }
    }
  });

  test('a reader may list names of streams and change nothing', async () => {
    const { accountId, streamUrl, streamId } = service.quickstart;
    const { token: secret } = await createAccessToken(service, ['logs:read']);
    const headers = { authorization: `Bearer ${secret}`, 'x-active-account': accountId };
    const listed = await read('/admin/streams', headers);
    assert.equal(listed.status, 200, listed.text);
    const { streams } = listed.json<{ streams: { streamId: string }[] }>();
    assert.ok(streams.some((stream) => stream.streamId === streamId));
    const others = { ...headers, 'x-active-account': '00000000-0000-4000-8000-000000000000' };
    assert.equal((await read('/admin/streams', others)).status, 403);
    const created = await service.http.send(`${streamUrl}/api/v1/admin/streams`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mine' }),
    });
    assert.equal(created.status, 403, created.text);
  });

  test('responses are private and must not be cached', async () => {
    for (const path of ['/logs', histogramPath, '/facets?field=host', '/nothing']) {
      const answer = await read(path, { ...bearer(), ...account() });
      assert.match(answer.headers['cache-control'] ?? '', /private.*no-store/, path);
      assert.match(answer.headers.vary ?? '', /Authorization.*X-Active-Account/i, path);
    }
  });

  test('another account reads nothing of it', async () => {
    const stream = await createStream(service);
    const made = await service.admin('POST', '/accounts', { name: 'other', eventsPerSecond: null });
    assert.equal(made.status, 201, made.text);
    const other = made.json<{ accountId: string }>().accountId;
    const { token: secret } = await createAccessToken(
      service,
      ['logs:read', 'analytics:read'],
      [other],
    );
    const headers = { authorization: `Bearer ${secret}`, 'x-active-account': other };
    await service.postLogs({ message: 'private' });
    await until(async () => (await service.list({ search: 'private' })).logs.length === 1, {
      what: 'the log to be readable by its owner',
    });
    const page = await read('/logs', headers);
    assert.deepEqual(page.json<{ logs: unknown[] }>().logs, []);
    const foreign = await read(`/logs?streamId=${stream.streamId}`, headers);
    assert.equal(foreign.status, 404, foreign.text);
  });
});
