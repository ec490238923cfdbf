/**
 * Three workers on one port act as one service: every protocol works on each, and limits, tokens,
 * idempotency keys and statistics are shared.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatisticsAnswer } from '../../src/admin/receiver-statistics.ts';
import { wires } from '../crash/wires.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { type HttpClient, sendPlain } from '../harness/http.ts';
import { readMetrics } from '../harness/metrics.ts';
import { freePort } from '../senders/program.ts';
import { exchangeRaw, statusOf } from '../harness/raw.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { workersOf } from '../harness/weir-process.ts';
import { openClients } from './load.ts';

const workers = 3;
let service: Service;
let clients: HttpClient[];
let plainPort: number;
before(async () => {
  plainPort = await freePort();
  const flags = ['--workers', String(workers), '--ingest-headers-timeout-ms', '1000'];
  flags.push('--proxy-ingest-port', String(plainPort));
  service = await startService({ flags });
  clients = openClients(service, 2 * workers);
});
after(async () => {
  for (const client of clients) client.close();
  await service.stop();
});

interface Sent {
  readonly url: string;
  readonly token: string;
  readonly body: unknown;
  readonly key?: string;
}

test('workers serve the plain port', async () => {
  const { receivers } = service.quickstart;
  const { receiverId, token } = receivers.http_json;
  for (let connection = 0; connection < 2 * workers; connection++) {
    const url = `http://127.0.0.1:${plainPort}/v1/receivers/${receiverId}/logs`;
    const answer = await sendPlain(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"message":"plain"}',
    });
    assert.equal(answer.status, 202, answer.text);
  }
});

test('a connection that is reset before its first byte ends no worker', async () => {
  const running = workersOf(service.process.pid);
  for (let connection = 0; connection < 4 * workers; connection++) {
    const socket = connectTcp(plainPort, '127.0.0.1');
    await once(socket, 'connect');
    // A worker takes the connection over meanwhile.
    await sleep(30);
    socket.resetAndDestroy();
  }
  await sleep(200);
  assert.deepEqual(workersOf(service.process.pid), running);
});

/** On one connection after the other: of so many, each worker has two. */
function post(connection: number, { url, token, body, key }: Sent) {
  const client = clients[connection % clients.length]!;
  return client.send(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  });
}

async function openReceiver(limits = {}) {
  const all = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null, ...limits };
  const { receiverId } = await createReceiver(service, { limits: all });
  const { token, tokenId } = await createIngestToken(service, receiverId);
  const { url, receiverId: first } = service.quickstart.receivers.http_json;
  return { receiverId, tokenId, token, url: url.replace(first, receiverId) };
}

const connections = Array.from({ length: 2 * workers }, (_, index) => index);

test('spreads long connections evenly, HTTP/2 included', async () => {
  const pids = workersOf(service.process.pid);
  const sockets = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).filter((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`).startsWith('socket:');
      } catch {
        return false;
      }
    }).length;
  const atFirst = pids.map(sockets);
  const { ingestUrl, caFile } = service.quickstart;
  const ca = readFileSync(caFile);
  const sessions = connections.map(() => connect(ingestUrl, { ca }));
  await Promise.all(
    sessions.map((session) => new Promise((resolve) => session.once('remoteSettings', resolve))),
  );
  const more = pids.map((pid, index) => sockets(pid) - (atFirst[index] ?? 0));
  assert.deepEqual(
    more,
    pids.map(() => 2),
  );
  for (const session of sessions) session.close();
});

/** The others have ports that this service does not open. */
const isHttp = (name: string) => name !== 'forward' && name !== 'syslog';

test('serves every protocol on every worker', async () => {
  const ca = readFileSync(service.quickstart.caFile, 'utf8');
  const names = (Object.keys(wires) as (keyof typeof wires)[]).filter(isHttp);
  const sent = connections.flatMap((connection) =>
    names.map(async (name, index) => {
      const http = clients[connection]!;
      const request = connection * names.length + index;
      const message = `sender ${index} request ${request} event 0`;
      const target = { http, ca, quickstart: service.quickstart };
      assert.equal(
        await wires[name](target, { request, names: [message], key: undefined }),
        'taken',
      );
    }),
  );
  await Promise.all(sent);
  const logs = async () => (await service.list({ limit: 1000, search: 'sender' })).logs.length;
  await until(async () => (await logs()) === (names.length - 2) * connections.length, {
    what: 'all logs',
  });
  const samples = async () =>
    (await readMetrics(service)).reduce((sum, series) => sum + series.samples.length, 0);
  await until(async () => (await samples()) === 2 * connections.length, { what: 'all samples' });
});

test('applies one limit across all workers', async () => {
  const receiver = await openReceiver({ eventsPerSecond: 1, burstEvents: 20 });
  const body = Array.from({ length: 5 }, () => ({ message: 'limited' }));
  const statuses: number[] = [];
  for (const connection of [...connections, ...connections]) {
    statuses.push((await post(connection, { ...receiver, body })).status);
  }
  const accepted = statuses.filter((status) => status === 202).length;
  // 20 at once, the debt, and the refill while the test runs.
  assert.ok(accepted >= 4 && accepted <= 7, statuses.join(' '));
  assert.ok(statuses.includes(429), statuses.join(' '));
});

test('every worker refuses a token once its revocation is answered', async () => {
  for (let round = 0; round < 5; round++) {
    const { tokenId, ...receiver } = await openReceiver();
    const sendOnAll = () =>
      Promise.all(connections.map((one) => post(one, { ...receiver, body: { message: 'in' } })));
    for (const { status } of await sendOnAll()) assert.equal(status, 202);
    const revoked = await service.admin('POST', `/tokens/${tokenId}/revoke`);
    assert.equal(revoked.status, 200, revoked.text);
    for (const { status } of await sendOnAll()) assert.equal(status, 401);
  }
});

test('accepts one of concurrent requests with the same key across workers', async () => {
  const receiver = await openReceiver();
  const body = { message: 'once', service_name: 'once' };
  const sent = { ...receiver, body, key: 'over-workers' };
  const answers = await Promise.all(
    [...connections, ...connections, ...connections].map((one) => post(one, sent)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  const replayed = answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
  assert.equal(replayed.length, answers.length - 1);
  const other = await post(1, { ...sent, body: { message: 'twice' } });
  assert.equal(other.status, 400, other.text);
});

test('statistics of a receiver cover all workers', async () => {
  const receiver = await openReceiver();
  for (const connection of connections) {
    await post(connection, { ...receiver, body: { message: 'counted' } });
    await post(connection, { ...receiver, body: { no: 'message' } });
  }
  const path = `/admin/receivers/${receiver.receiverId}/statistics`;
  const answer = await service.read(path);
  assert.equal(answer.status, 200, answer.text);
  const { accepted, refused } = answer.json<StatisticsAnswer>();
  assert.deepEqual([accepted, refused], [connections.length, connections.length]);
});

test('a worker enforces the header timeout', async () => {
  const received = await exchangeRaw(service, { send: 'POST /v1/receivers/a/logs HTTP/1.1\r\n' });
  assert.equal(statusOf(received), 408);
});

test('does not count closed connections', async () => {
  for (const client of clients) client.close();
  service.http.close();
  await until(async () => (await service.metric('weir_workers_connections')) === 0, {
    what: 'no connections',
  });
});
