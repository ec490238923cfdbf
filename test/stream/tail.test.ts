/**
 * The live tail of the real service: every acknowledged log arrives once, in order of arrival,
 * through failures of readers and processes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { LogRecord } from '../../src/model/plan.ts';
import { createAccessToken } from '../harness/control.ts';
import { createRandom } from '../harness/random.ts';
import { type Parameters, type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { openTail, type TailClient, type TailOptions } from './tail-client.ts';

/** Of one account. */
const maxTails = 120;
let service: Service;
const opened: TailClient[] = [];

before(async () => {
  service = await startService({
    flags: ['--stream-max-tails', String(2 * maxTails), '--stream-tail-heartbeat-ms', '200'],
    arePortsKept: true,
  });
});
after(() => service.stop());

async function follow(options: TailOptions = {}): Promise<TailClient> {
  const tail = await openTail(service, options);
  opened.push(tail);
  if (tail.status === 200) await tail.first('open');
  return tail;
}

function leaveAll(): void {
  for (const tail of opened.splice(0)) tail.leave();
}

async function post(events: readonly object[]): Promise<void> {
  const answer = await service.postLogs(events);
  assert.equal(answer.status, 202, answer.text);
}

const messagesOf = (tail: TailClient) => tail.logs.map(({ message }) => message);

function untilLogs(tail: TailClient, count: number): Promise<true> {
  return until(() => tail.logs.length >= count, { what: `${count} logs in the tail` });
}

for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`${protocol}: logs arrive in order, late ones too, equal to the list`, async () => {
    const tail = await follow({ protocol });
    await post([{ message: 'first\nof\r\ntwo lines', service_name: protocol }]);
    await post([
      { message: 'long ago', service_name: protocol, timestamp: '2020-02-02T02:02:02Z' },
    ]);
    await post([1, 2, 3].map((n) => ({ message: `row ${n}`, service_name: protocol })));
    await untilLogs(tail, 5);
    const messages = ['first\nof\r\ntwo lines', 'long ago', 'row 1', 'row 2', 'row 3'];
    assert.deepEqual(messagesOf(tail), messages);
    const { logs } = await service.list({ serviceName: protocol });
    assert.deepEqual(byId(tail.logs), byId(logs));
    leaveAll();
  });
}

function byId(logs: readonly LogRecord[]): LogRecord[] {
  return logs.toSorted((a, b) => (a.logId < b.logId ? -1 : 1));
}

test('filters agree with the list', async () => {
  const own = { serviceNamespace: 'filters' };
  const filters: readonly Parameters[] = [
    own,
    { ...own, severity: ['error', 'WARN'] },
    { ...own, host: 'h1' },
    { ...own, serviceName: ['s1', 's2'] },
    { ...own, label: ['tier:1', 'zone:a:b'] },
    { ...own, search: 'Alpha -beta' },
    { ...own, search: '"alpha gamma"' },
    { ...own, k8sPod: 'p1', k8sNamespace: 'n1' },
    { ...own, exclude: ['severity:info', 'host:h2'] },
    { ...own, excludeLabel: 'tier:1' },
    { ...own, streamId: service.quickstart.streamId },
    { serviceNamespace: 'nobody' },
  ];
  const tails = await Promise.all(filters.map((parameters) => follow({ parameters })));
  const random = createRandom(5);
  const words = ['alpha', 'beta', 'gamma', 'ALPHA'] as const;
  const events = Array.from({ length: 200 }, () => ({
    message: `${random.pick(words)} ${random.pick(words)}`,
    severity: random.pick(['INFO', 'warn', 'Error']),
    host: random.pick(['h1', 'h2', '']),
    service_name: random.pick(['s1', 's2', 's3']),
    service_namespace: 'filters',
    labels: {
      tier: random.pick(['1', '2']),
      zone: random.pick(['a:b', 'c']),
      'k8s.pod.name': random.pick(['p1', 'p2']),
      'k8s.namespace.name': random.pick(['n1', 'n2']),
    },
  }));
  await post(events.slice(0, 120));
  await post(events.slice(120));
  await untilLogs(tails[0]!, events.length);
  for (const [i, parameters] of filters.entries()) {
    const { logs } = await service.list({ ...parameters, limit: 1000 });
    const tail = tails[i]!;
    await until(() => tail.logs.length >= logs.length && isPast(tail, tails[0]!.lastId), {
      what: `the logs of ${JSON.stringify(parameters)}`,
    });
    assert.deepEqual(byId(tail.logs), byId(logs), JSON.stringify(parameters));
  }
  leaveAll();
});

function isPast(tail: TailClient, id: string): boolean {
  return BigInt(tail.lastId.split('.')[0] ?? 0) >= BigInt(id.split('.')[0]!);
}

test('refuses invalid tails before the stream begins', async () => {
  const cases: readonly (readonly [TailOptions, number, RegExp])[] = [
    [{ lastEventId: '12' }, 400, /Last-Event-ID/],
    [{ lastEventId: `1.${'0'.repeat(32)}.0, x` }, 400, /Last-Event-ID/],
    [{ parameters: { sinceTime: '2026-04-01T00:00:00Z' } }, 400, /unknown parameter/],
    [{ parameters: { limit: '5' } }, 400, /unknown parameter/],
    [{ parameters: { maxLagSeconds: '301' } }, 400, /1 to 300/],
    [{ parameters: { streamId: '00000000-0000-4000-8000-00000000000f' } }, 404, /cannot find/],
    [{ token: 'wra_nothing' }, 401, /token/],
    [{ token: (await createAccessToken(service, ['analytics:read'])).token }, 403, /scope/],
  ];
  for (const [options, status, detail] of cases) {
    const tail = await follow(options);
    await until(() => tail.end !== undefined, { what: 'the answer to end' });
    assert.equal(tail.status, status, tail.text);
    assert.match((JSON.parse(tail.text) as { detail: string }).detail, detail);
  }
});

test('a hundred tails get each log, and more than the limit are refused', async () => {
  const tails = await Promise.all(Array.from({ length: maxTails }, () => follow()));
  const oneMore = await follow();
  assert.equal(oneMore.status, 503);
  await post([{ message: 'to all' }]);
  await Promise.all(tails.map((tail) => untilLogs(tail, 1)));
  for (const tail of tails) assert.deepEqual(messagesOf(tail), ['to all']);
  leaveAll();
  await until(async () => (await service.metric('weir_tails_open')) === 0, {
    what: 'the places of disconnected readers to be free',
  });
});

test('a revoked token ends the tail', async () => {
  const { token, tokenId } = await createAccessToken(service, ['logs:read']);
  const tail = await follow({ token });
  const revoked = await service.admin('DELETE', `/tokens/${tokenId}`);
  assert.ok(revoked.status < 300, revoked.text);
  const { data } = await tail.first('error');
  assert.equal(data['status'], 401);
  await until(() => tail.end, { what: 'the tail to end' });
  assert.equal(tail.end, 'whole');
  leaveAll();
});

test('a slow reader gets dropped events and costs little memory', async (t) => {
  const slow = await Promise.all(
    Array.from({ length: 10 }, () => follow({ parameters: { maxLagSeconds: 1 } })),
  );
  for (const tail of slow) tail.pause();
  const before_ = residentBytes(service.process.pid);
  const blob = 'x'.repeat(20_000);
  const bodies = 30;
  const perBody = 50;
  let peak = 0;
  for (let i = 0; i < bodies; i++) {
    const events = Array.from({ length: perBody }, (_, n) => ({ message: `${i}/${n} ${blob}` }));
    await post(events);
    peak = Math.max(peak, residentBytes(service.process.pid));
  }
  const newest = await until(async () => (await service.list({ limit: 1 })).logs[0], {
    what: 'the last log',
  });
  await until(() => Date.now() > Date.parse(newest.receivedAt) + 1_500, {
    what: '1.5 s after the newest log',
  });
  await post([{ message: 'behind' }]);
  await until(async () => (await service.list({ search: 'behind' })).logs.length === 1, {
    what: 'a newer log',
  });
  for (const tail of slow) tail.resume();
  for (const tail of slow) {
    await until(() => messagesOf(tail).at(-1) === 'behind', { what: 'the last log' });
    const dropped = tail.named('dropped').reduce((sum, { data }) => sum + Number(data['count']), 0);
    assert.equal(tail.logs.length + dropped, bodies * perBody + 1);
    assert.equal(new Set(tail.logs.map(({ logId }) => logId)).size, tail.logs.length);
  }
  assert.ok(
    slow.some((tail) => tail.named('dropped').length > 0),
    'no tail was behind',
  );
  const grown = (peak - before_) / 2 ** 20;
  t.diagnostic(`the gateway grew by ${Math.round(grown)} MiB`);
  assert.ok(grown < 256, `the gateway grew by ${grown} MiB`);
  leaveAll();
});

function residentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kibibytes) * 1024;
}

test('a resuming reader gets each log once, through kills of reader and gateway', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`replay with SEED=${seed}`);
  const random = createRandom(seed);
  const serviceName = `promise-${seed}`;
  const sent: string[] = [];
  const seen: string[] = [];
  let lastEventId = (await follow()).lastId;
  leaveAll();
  const send = async (): Promise<void> => {
    const batch = Array.from({ length: random.integer(1, 40) }, (_, n) => `${sent.length + n}`);
    sent.push(...batch);
    await post(batch.map((message) => ({ message, service_name: serviceName })));
  };
  const keep = (tail: TailClient, events: number): void => {
    const kept = tail.events.slice(0, events);
    const logs = kept.filter(({ name }) => name === 'log');
    seen.push(...logs.map(({ data }) => String(data['message'])));
    lastEventId = kept.at(-1)!.id;
  };
  for (let life = 0; life < 2; life++) {
    for (let visit = 0; visit < 8; visit++) {
      const tail = await follow({ lastEventId, parameters: { serviceName } });
      const wanted = random.integer(0, 60);
      await send();
      await send();
      const waitFor = Math.min(wanted, sent.length - seen.length);
      await untilLogs(tail, waitFor);
      tail.leave();
      // The reader may have processed any part of what arrived.
      keep(tail, random.integer(1, tail.events.length));
    }
    if (life > 0) continue;
    const tail = await follow({ lastEventId, parameters: { serviceName } });
    await send();
    await service.kill('SIGKILL');
    await until(() => tail.end, { what: 'the tail to be cut off' });
    keep(tail, tail.events.length);
    await service.start();
  }
  const tail = await follow({ lastEventId, parameters: { serviceName } });
  await untilLogs(tail, sent.length - seen.length);
  seen.push(...messagesOf(tail));
  assert.deepEqual(seen, sent);
  leaveAll();
});

test('deleted data does not arrive', async () => {
  const { lastId } = await follow();
  leaveAll();
  await post([{ message: 'to be deleted' }]);
  await until(async () => (await service.list({ search: 'deleted' })).logs.length === 1, {
    what: 'the log',
  });
  const { streamId } = service.quickstart;
  const deletion = await service.admin('DELETE', `/streams/${streamId}/data`);
  assert.ok(deletion.status < 300, deletion.text);
  const tail = await follow({ lastEventId: lastId });
  await post([{ message: 'kept' }]);
  await untilLogs(tail, 1);
  assert.deepEqual(messagesOf(tail), ['kept']);
  leaveAll();
});

test('a stopping service ends its tails at once', async () => {
  const tails = await Promise.all(
    (['HTTP/1.1', 'HTTP/2'] as const).map((protocol) => follow({ protocol })),
  );
  service.process.kill('SIGTERM');
  for (const tail of tails) {
    await until(() => tail.end !== undefined, { what: 'the tail to end', timeoutMs: 5_000 });
    assert.equal(tail.events.at(-1)?.name, 'end');
    assert.equal(tail.end, 'whole');
  }
  await service.process.exited;
});
