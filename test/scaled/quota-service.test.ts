/**
 * The real service with quotas on Redis: two gateways share an account's limit, and an outage of
 * Redis affects limited receivers only.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Receiver } from '../../src/model/account.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import type { Answer } from '../harness/http.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startWeir } from '../harness/weir-process.ts';
import { missingRedis, RedisServer } from './redis-server.ts';

interface Address {
  readonly url: string;
  readonly token: string;
}

const unlimited = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null };
const limited = { ...unlimited, eventsPerSecond: 1000 };

suite('a service with quotas on Redis', { skip: missingRedis() }, () => {
  let redis: RedisServer;
  let service: Service;
  before(async () => {
    redis = await RedisServer.start(() => ['--requirepass', 'secret']);
    service = await startService({
      flags: ['--quota-urls', redis.url, '--quota-timeout-ms', '500'],
      env: { WEIR_QUOTA_PASSWORD: 'secret' },
      expectedErrors: [/quota store does not answer/],
    });
  });
  after(async () => {
    await service?.stop();
    await redis?.stop();
  });

  /** A separate receiver. */
  async function open(limits: Receiver['limits']): Promise<Address> {
    const { receiverId } = await createReceiver(service, { limits });
    const { token } = await createIngestToken(service, receiverId);
    const first = service.quickstart.receivers.http_json;
    return { url: first.url.replace(first.receiverId, receiverId), token };
  }

  function send({ url, token }: Address, events: number): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(Array.from({ length: events }, () => ({ message: 'hello' })));
    return service.http.send(url, { method: 'POST', headers, body });
  }

  test('applies limits of receivers and of their account', async () => {
    const change = (eventsPerSecond: number | null) =>
      service.admin('PATCH', `/accounts/${service.quickstart.accountId}`, { eventsPerSecond });
    const [one, other] = [await open(limited), await open(unlimited)];
    assert.equal((await change(1)).status, 200);
    try {
      const first = await send(one, 100);
      assert.equal(first.status, 202, first.text);
      const state = String(first.headers['ratelimit']);
      assert.match(state, /^"receiver";r=99\d\d;t=0, "account";r=0;t=(?:8\d|9\d)$/);
      for (const address of [one, other]) {
        const refused = await send(address, 1);
        assert.equal(refused.status, 429, refused.text);
        assert.equal(refused.headers['retry-after'], '5');
      }
    } finally {
      await change(null);
    }
    assert.ok((await service.metric('weir_quota_store_seconds_count'))! > 0);
  });

  test('Redis down: 503 with a limit, 202 without, recovers by itself', async () => {
    const [bounded, free] = [await open(limited), await open(unlimited)];
    assert.equal((await send(bounded, 1)).status, 202);
    await redis.halt();
    for (let i = 0; i < 3; i += 1) {
      const refused = await send(bounded, 1);
      assert.equal(refused.status, 503, refused.text);
      assert.match(String(refused.headers['retry-after']), /^[1-5]$/);
      assert.doesNotMatch(refused.text, /redis|127\.0\.0\.1/i);
      const taken = await send(free, 1);
      assert.equal(taken.status, 202, taken.text);
    }
    assert.equal(await service.isReady(), true);
    await redis.restart();
    const isBack = async () => (await send(bounded, 1)).status === 202;
    await until(isBack, { what: 'events to be accepted again' });
  });

  test('a wrong password: a start exits and names the setting', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-quota-'));
    const flags = ['--data', dataDir, '--quota-urls', redis.url];
    const ports = ['ingest', 'stream', 'ops'].flatMap((port) => [`--${port}-port`, '0']);
    const ended = startWeir(['serve', ...flags, ...ports], { WEIR_QUOTA_PASSWORD: 'wrong' });
    const { code } = await ended.exited;
    rmSync(dataDir, { recursive: true });
    const said = ended.logs.at(-1)?.raw ?? '';
    assert.equal(code, 1, said);
    assert.match(said, /cannot use the quota store at .*WRONGPASS.*quota\.password/);
  });

  test('Redis hanging: the same', async () => {
    const [bounded, free] = [await open(limited), await open(unlimited)];
    redis.signal('SIGSTOP');
    try {
      for (let i = 0; i < 3; i += 1) {
        assert.equal((await send(bounded, 1)).status, 503);
        assert.equal((await send(free, 1)).status, 202);
      }
    } finally {
      redis.signal('SIGCONT');
    }
    const isBack = async () => (await send(bounded, 1)).status === 202;
    await until(isBack, { what: 'events to be accepted again' });
  });
});
