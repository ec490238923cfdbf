/**
 * Long tests of the whole scaled-out set: exactly-once storage through kills and rolling restarts
 * under load, one limit for all gateways, revocation at every gateway.
 */
import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCrashTest } from '../../crash/run.ts';
import { openScaledStage, restartTargets, strikeTargets } from '../../crash/scaled-stage.ts';
import { createIngestToken, createReceiver } from '../../harness/control.ts';
import { Service } from '../../harness/service.ts';
import { until } from '../../harness/until.ts';
import { toServiceNodes } from '../scaled-nodes.ts';
import { missingServers, type ScaledSet, openScaledSet } from '../scaled-set.ts';

const kills = Number(process.env['WEIR_KILLS'] ?? 50);
const quotaSeconds = 60;
const eventsPerSecond = 1_000;

suite('promises of the scaled-out set', { skip: missingServers() }, () => {
  test(`${kills} kills lose, duplicate and invent nothing`, (t) => strike(t, strikeTargets, kills));

  test('a rolling restart of every role loses only requests that clients retry', (t) =>
    strike(t, restartTargets, 12));

  test('a limit applies across both gateways, and a revocation reaches both', async (t) => {
    const set = await openScaledSet();
    const service = new Service(toServiceNodes(set), {});
    await service.start();
    try {
      await set.ready();
      await checkLimit(t, set, service);
      await checkRevocation(t, set, service);
    } finally {
      await service.stop();
    }
  });
});

async function strike(t: TestContext, targets: readonly [string, ...string[]], times: number) {
  const seed = Number(process.env['WEIR_SEED'] ?? Date.now() % 2 ** 31);
  const stage = await openScaledStage(targets);
  const said: string[] = [];
  const report = await runCrashTest({ stage, kills: times, seed, say: (line) => said.push(line) });
  t.diagnostic(JSON.stringify({ seed, ...report, faults: report.faults.length }));
  assert.deepEqual(report.faults, [], said.join('\n'));
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} events were acknowledged`);
}

/** Two senders, one per gateway, send as fast as permitted for a minute. */
async function checkLimit(t: TestContext, set: ScaledSet, service: Service): Promise<void> {
  const limits = { eventsPerSecond, burstEvents: null, maxBodyBytes: null };
  const { receiverId } = await createReceiver(service, { limits });
  const { token } = await createIngestToken(service, receiverId);
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  const sendAll = async (gateway: number) => {
    let accepted = 0;
    let refused = 0;
    while (elapsed() < quotaSeconds) {
      const status = await send(set, service, { gateway, receiverId, token, events: 100 });
      assert.ok(status === 202 || status === 429, `unexpected status ${status}`);
      if (status === 202) accepted += 100;
      else refused += 1;
      await sleep(status === 202 ? 0 : 20);
    }
    return { accepted, refused };
  };
  const each = await Promise.all([0, 1].map(sendAll));
  const accepted = each.reduce((sum, one) => sum + one.accepted, 0);
  // The initial bucket is granted once in addition.
  const average = (accepted - 10 * eventsPerSecond) / elapsed();
  t.diagnostic(`${average.toFixed(1)}/s of ${eventsPerSecond}/s: ${JSON.stringify(each)}`);
  assert.ok(Math.abs(average / eventsPerSecond - 1) < 0.05, `${average} events/s on average`);
  assert.ok(
    each.every((one) => one.accepted > 0 && one.refused > 0),
    'a gateway received no requests',
  );
}

async function checkRevocation(t: TestContext, set: ScaledSet, service: Service): Promise<void> {
  const { receiverId } = await createReceiver(service, {});
  const { token, tokenId } = await createIngestToken(service, receiverId);
  for (const gateway of [0, 1]) {
    assert.equal(await send(set, service, { gateway, receiverId, token, events: 1 }), 202);
  }
  const answer = await service.admin('POST', `/tokens/${tokenId}/revoke`);
  assert.ok(answer.status < 300, answer.text);
  const revokedAt = performance.now();
  for (const gateway of [0, 1]) {
    await until(
      async () => (await send(set, service, { gateway, receiverId, token, events: 1 })) === 401,
      { what: `gateway ${gateway} to refuse`, timeoutMs: 5_000, everyMs: 5 },
    );
    t.diagnostic(
      `gateway ${gateway} refused ${(performance.now() - revokedAt).toFixed(0)} ms later`,
    );
  }
}

async function send(
  set: ScaledSet,
  service: Service,
  what: { gateway: number; receiverId: string; token: string; events: number },
): Promise<number> {
  const url = `${set.ingestUrl(what.gateway)}/v1/receivers/${what.receiverId}/logs`;
  const { status } = await service.http.send(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${what.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: what.events }, () => ({ message: 'hello' }))),
  });
  return status;
}
