/**
 * Receiver statistics equal the answers to senders, with the reason of each refusal, through a
 * restart and a kill, and without content.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import type { Receiver } from '../../src/model/account.ts';
import type { StatisticsAnswer } from '../../src/admin/receiver-statistics.ts';
import type { Outgoing } from '../compliance/grpc-call.ts';
import type { Wire } from '../compliance/wire.ts';
import { wires } from '../compliance/wires.ts';
import { createAccessToken, createIngestToken, createReceiver } from '../harness/control.ts';
import { exchangeRaw } from '../harness/raw.ts';
import type { Answer } from '../harness/http.ts';
import { isScaledSet, startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** In every body; must not occur in the statistics. */
const marker = 'MARKERofTheBody';
const wrongSecret = 'wri_WrongSecretOfATest0123456789abcdefghijklm';

const flushSeconds = 1;
const hasNoFile = isScaledSet && 'the directory is no file';

let service: Service;
before(async () => {
  const flags = [
    '--statistics-flush-seconds',
    String(flushSeconds),
    '--ingest-body-timeout-ms',
    '1000',
  ];
  service = await startService({ flags });
});
after(() => service.stop());

interface Own {
  readonly outgoing: Outgoing;
  readonly tokenId: string;
}

async function open(wire: Wire, settings: Partial<Receiver> = {}): Promise<Own> {
  const { receiverId } = await createReceiver(service, { kind: wire.kind, ...settings });
  const { token, tokenId } = await createIngestToken(service, receiverId);
  const authorization = [`Bearer ${token}`];
  const body = wire.encode(marker, 1);
  return { outgoing: { receiverId, authorization, headers: wire.headers, body }, tokenId };
}

async function statisticsOf(
  receiverId: string,
  parameters: Record<string, string | number> = {},
): Promise<StatisticsAnswer> {
  const ask = () => service.read(`/admin/receivers/${receiverId}/statistics`, parameters);
  const answer = isScaledSet ? await settled(ask) : await ask();
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes(marker), answer.text);
  assert.ok(!/wr[ia]_\w/i.test(answer.text), answer.text);
  const statistics = answer.json<StatisticsAnswer>();
  for (const field of ['accepted', 'rejected', 'requests', 'refused', 'bytes'] as const) {
    const sum = statistics.buckets.reduce((total, bucket) => total + bucket[field], 0);
    assert.equal(statistics[field], sum, `${field} of the buckets`);
  }
  const ofKind = (kind: string) =>
    statistics.reasons.filter((reason) => reason.kind === kind).reduce((n, r) => n + r.count, 0);
  assert.equal(ofKind('request'), statistics.refused);
  assert.equal(ofKind('record'), statistics.rejected);
  return statistics;
}

/** Gateways flush periodically: two intervals without a change mean all is written. */
async function settled(ask: () => Promise<Answer>): Promise<Answer> {
  let last = await ask();
  let since = performance.now();
  return until(
    async () => {
      const answer = await ask();
      if (answer.text !== last.text) since = performance.now();
      last = answer;
      return performance.now() - since > 2000 * flushSeconds && last;
    },
    { what: 'the counts of all gateways', everyMs: 100 },
  );
}

function countsOf({ accepted, rejected, requests, refused }: StatisticsAnswer) {
  return { accepted, rejected, requests, refused };
}

function reasonsOf({ reasons }: StatisticsAnswer): Record<string, number> {
  return Object.fromEntries(reasons.map(({ reason, count }) => [reason, count]));
}

/** Reads the directory's file, whatever is still in memory. */
function writtenRequests(receiverId: string): number {
  const database = new DatabaseSync(join(service.dataDir, 'directory.db'), { readOnly: true });
  const row = database
    .prepare('SELECT sum(requests) AS n FROM receiver_minutes WHERE receiver_id = ?')
    .get(receiverId);
  database.close();
  return Number(row?.['n'] ?? 0);
}

for (const wire of wires) {
  test(`${wire.name}: counts equal the answers`, async () => {
    const { outgoing, tokenId } = await open(wire);
    const { receiverId } = outgoing;
    const sizes = wire.hasOneRecord === true ? [1, 1] : [1, 3];
    for (const records of sizes) {
      const body = wire.encode(marker, records);
      const answer = await wire.send(service, { ...outgoing, body });
      assert.equal(answer.status, wire.successStatus, answer.text);
    }
    const malformed = await wire.send(service, { ...outgoing, body: wire.malformed });
    assert.equal(malformed.status, 400);
    const strange = await wire.send(service, {
      ...outgoing,
      headers: wire.strangeHeaders[0] ?? {},
    });
    assert.equal(strange.status, 415);

    const statistics = await statisticsOf(receiverId);
    const accepted = sizes[0]! + sizes[1]!;
    assert.deepEqual(countsOf(statistics), { accepted, rejected: 0, requests: 4, refused: 2 });
    assert.deepEqual(reasonsOf(statistics), { malformed: 1, unsupported_media: 1 });
    assert.ok(statistics.bytes > 0);
    const [newest, older] = statistics.samples;
    assert.equal(newest?.reason, 'unsupported_media');
    assert.equal(newest.status, 415);
    assert.equal(older?.reason, 'malformed');
    assert.equal(older.status, 400);
    assert.equal(older.tokenId, tokenId);
    assert.match(older.peerAddress, /127\.0\.0\.1|::1/);
    assert.ok(older.detail.startsWith('cannot '), older.detail);
    assert.ok(statistics.lastSeenAt! >= statistics.lastAcceptedAt!);
  });

  const { encodePartlyBad } = wire;
  if (encodePartlyBad === undefined) continue;
  test(`${wire.name}: counts rejected records by reason`, async () => {
    const { outgoing } = await open(wire);
    const answer = await wire.send(service, { ...outgoing, body: encodePartlyBad(marker) });
    assert.equal(answer.status, wire.partlyBadStatus);
    const statistics = await statisticsOf(outgoing.receiverId);
    assert.deepEqual(countsOf(statistics), { accepted: 1, rejected: 1, requests: 1, refused: 0 });
    const [sample] = statistics.samples;
    assert.equal(sample?.kind, 'record');
    assert.deepEqual(reasonsOf(statistics), { [sample.reason]: 1 });
    assert.equal(sample.status, wire.partlyBadStatus);
    assert.equal(sample.detail, `cannot accept the record at index 1: ${sample.reason}`);
  });
}

test('OTLP: a partial success counts rejected records', async () => {
  const wire = wireNamed('OTLP over HTTP, JSON');
  const { outgoing } = await open(wire);
  const values = Array.from({ length: 100_001 }, () => ({}));
  const logRecords = [{ body: { arrayValue: { values } } }, { body: { stringValue: marker } }];
  const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }));
  const answer = await wire.send(service, { ...outgoing, body });
  assert.match(answer.text, /"rejectedLogRecords":"1"/);
  const statistics = await statisticsOf(outgoing.receiverId);
  assert.deepEqual(countsOf(statistics), { accepted: 1, rejected: 1, requests: 1, refused: 0 });
  assert.match(statistics.reasons[0]?.reason ?? '', /elements in arrays and maps/);
});

test('every refusal appears with its reason', async () => {
  const wire = wireNamed('JSON logs');
  const limits = { eventsPerSecond: 1, burstEvents: 1, maxBodyBytes: null };
  const { outgoing } = await open(wire, { limits });
  const other = await open(wire);
  const { receiverId } = outgoing;
  const answers = async (change: Partial<Outgoing>, status: number) => {
    const answer = await wire.send(service, { ...outgoing, ...change });
    assert.equal(answer.status, status, answer.text);
  };
  await answers({ authorization: [] }, 401);
  await answers({ authorization: [`Bearer ${wrongSecret}`] }, 401);
  await answers({ authorization: other.outgoing.authorization }, 403);
  await answers({ headers: { 'Content-Type': `text/${wrongSecret}` } }, 415);
  await answers({ body: Buffer.from(`{"${marker}`) }, 400);
  await answers({ body: wire.encode(marker, 50_001) }, 413);
  const head = [
    `POST /v1/receivers/${receiverId}/logs HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${outgoing.authorization.join()}`,
    'Content-Type: application/json',
  ];
  const late = { send: `${head.join('\r\n')}\r\nContent-Length: 99\r\n\r\n{"${marker}` };
  assert.match(await exchangeRaw(service, late), /^HTTP\/1.1 408/);
  // Accepted, and in debt for longer than the test.
  await answers({ body: wire.encode(marker, 1000) }, 202);
  await answers({}, 429);

  const statistics = await statisticsOf(receiverId);
  assert.deepEqual(reasonsOf(statistics), {
    unauthenticated: 2,
    forbidden: 1,
    unsupported_media: 1,
    malformed: 1,
    too_large: 1,
    timeout: 1,
    quota_exceeded: 1,
  });
  assert.deepEqual(countsOf(statistics), { accepted: 1000, rejected: 0, requests: 9, refused: 8 });
  const advice = new Set(statistics.reasons.map((reason) => reason.advice));
  assert.equal(advice.size, 7);
  const strange = statistics.samples.find(({ reason }) => reason === 'unsupported_media');
  assert.equal(strange?.contentType, 'text/wri_…');
  const foreign = statistics.samples.find(({ reason }) => reason === 'forbidden');
  assert.equal(foreign?.tokenId, other.tokenId);
  assert.deepEqual(reasonsOf(await statisticsOf(other.outgoing.receiverId)), {});
});

test('counts a request to an almost correct URL', async () => {
  for (const name of ['JSON logs', 'OTLP over HTTP, JSON']) {
    const { outgoing } = await open(wireNamed(name));
    const { receiverId } = outgoing;
    const base = `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}`;
    const headers = { authorization: outgoing.authorization.join(), 'content-type': 'text/x' };
    const post = { method: 'POST', headers, body: marker };
    for (const path of ['/logs/logs', '/otlp/v1/logs/v1/logs', '', '?x']) {
      assert.equal((await service.http.send(base + path, post)).status, 404, path);
    }
    const statistics = await until(
      async () => {
        const found = await statisticsOf(receiverId);
        return found.requests === 4 && found;
      },
      { what: 'the requests to be counted' },
    );
    assert.deepEqual(reasonsOf(statistics), { not_found: 4 });
    assert.match(statistics.samples[0]?.detail ?? '', /use the URL exactly as it was issued/);
  }
});

test('counts warnings, which the answer lists', async () => {
  const { outgoing } = await open(wireNamed('JSON logs'));
  const body = Buffer.from(
    '[{"message":"a","timestamp":"yesterday"},{"message":"b","timestamp":"1795341600.5"}]',
  );
  const answer = await wireNamed('JSON logs').send(service, { ...outgoing, body });
  const reason = 'unreadable time: stored with the time of receipt';
  assert.deepEqual(JSON.parse(answer.text), { accepted: 2, warnings: [{ reason, count: 1 }] });
  const { reasons, rejected } = await statisticsOf(outgoing.receiverId);
  assert.equal(rejected, 0);
  assert.deepEqual(
    reasons.map(({ kind, count }) => ({ kind, count })),
    [{ kind: 'warning', count: 1 }],
  );
  assert.match(reasons[0]?.advice ?? '', /RFC 3339/);
});

test('says which exporter to switch off', async () => {
  const { outgoing } = await open(wireNamed('OTLP over HTTP, JSON'));
  const { ingestUrl } = service.quickstart;
  const headers = { authorization: outgoing.authorization.join(), 'content-type': 'text/x' };
  for (const [path, advice] of [
    ['/v1/logs', /…\/otlp\/v1\/logs; set OTEL_EXPORTER_OTLP_ENDPOINT/],
    ['/v1/metrics', /OTEL_METRICS_EXPORTER=none/],
    ['/v1/traces', /OTEL_TRACES_EXPORTER=none/],
    [`/v1/receivers/${outgoing.receiverId}/otlp/v1/traces`, /OTEL_TRACES_EXPORTER=none/],
  ] as const) {
    const post = { method: 'POST', headers, body: marker };
    const answer = await service.http.send(`${ingestUrl}${path}`, post);
    assert.equal(answer.status, 404);
    assert.match(answer.text, advice);
  }
});

test('a repeated request counts only as a request', async () => {
  const wire = wireNamed('JSON logs');
  const { outgoing } = await open(wire);
  const headers = { ...outgoing.headers, 'Idempotency-Key': 'repeated' };
  for (let i = 0; i < 3; i += 1) await wire.send(service, { ...outgoing, headers });
  const statistics = await statisticsOf(outgoing.receiverId);
  assert.deepEqual(countsOf(statistics), { accepted: 1, rejected: 0, requests: 3, refused: 0 });
});

test('divides a range into buckets of whole minutes', async () => {
  const { outgoing } = await open(wireNamed('JSON logs'));
  const { receiverId } = outgoing;
  const week = await statisticsOf(receiverId, {
    sinceTime: '2026-03-01T00:00:30Z',
    untilTime: '2026-03-08T00:00:00Z',
    buckets: 500,
  });
  assert.equal(week.buckets.length, 500);
  assert.equal(week.startTime, '2026-03-01T00:00:00.000Z');
  const usual = await statisticsOf(receiverId);
  assert.equal(usual.buckets.length, 60);
  assert.equal(Date.parse(usual.endTime) - Date.parse(usual.startTime), 3_600_000);
  const status = async (parameters: Record<string, string>) =>
    (await service.read(`/admin/receivers/${receiverId}/statistics`, parameters)).status;
  assert.equal(await status({ buckets: '501' }), 400);
  assert.equal(await status({ buckets: '0' }), 400);
  assert.equal(await status({ sinceTime: 'yesterday' }), 400);
  assert.equal(await status({ sinceTime: '2026-03-01T00:00:00Z', untilTime: '2026-03-09' }), 400);
  assert.equal(
    await status({ sinceTime: '2026-03-01T00:00:00Z', untilTime: '2026-03-09T00:00:00Z' }),
    400,
  );
  assert.equal(await status({ host: 'x' }), 400);
});

test('hidden from another account and from a token without admin', async () => {
  const { outgoing } = await open(wireNamed('JSON logs'));
  const path = `/api/v1/admin/receivers/${outgoing.receiverId}/statistics`;
  const account = await service.admin('POST', '/accounts', { name: 'another' });
  const { accountId } = account.json<{ accountId: string }>();
  const admin = await createAccessToken(service, ['admin'], [accountId]);
  const reader = await createAccessToken(service, ['logs:read']);
  const operator = await createAccessToken(service, ['operator'], []);
  const statusOf = async (token: string, active: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-active-account': active };
    return (await service.http.send(service.quickstart.streamUrl + path, { headers })).status;
  };
  const own = service.quickstart.accountId;
  assert.equal(await statusOf(admin.token, accountId), 404);
  assert.equal(await statusOf(admin.token, own), 403);
  assert.equal(await statusOf(reader.token, own), 403);
  assert.equal(await statusOf(operator.token, own), 200);
  assert.equal(await statusOf(operator.token, accountId), 404);
});

test('unknown ids leave nothing', { skip: hasNoFile }, async () => {
  const wire = wireNamed('JSON logs');
  const { outgoing } = await open(wire);
  await Promise.all(
    Array.from({ length: 500 }, (_, i) =>
      wire.send(service, { ...outgoing, receiverId: `rcv_unknown${i}`, authorization: [] }),
    ),
  );
  // A receiver first seen after all those.
  const refused = await wire.send(service, { ...outgoing, authorization: [] });
  assert.equal(refused.status, 401);
  await until(() => writtenRequests(outgoing.receiverId) === 1, { what: 'the refusal on disk' });
  const database = new DatabaseSync(join(service.dataDir, 'directory.db'), { readOnly: true });
  for (const table of ['minutes', 'reasons', 'samples', 'activity']) {
    const sql = `SELECT count(*) AS n FROM receiver_${table} WHERE receiver_id GLOB 'rcv_unknown*'`;
    assert.equal(database.prepare(sql).get()?.['n'], 0, table);
  }
  database.close();
});

test('counts survive a restart, and a kill except for the last moments', {
  skip: hasNoFile,
}, async () => {
  const wire = wireNamed('JSON logs');
  const { outgoing } = await open(wire);
  const { receiverId } = outgoing;
  await wire.send(service, outgoing);
  await wire.send(service, { ...outgoing, authorization: [`Bearer ${wrongSecret}`] });
  const running = await statisticsOf(receiverId);
  const exit = await service.kill('SIGTERM');
  assert.equal(exit.code, 0);
  assertNoSecrets();
  await service.start();
  const restarted = await statisticsOf(receiverId);
  assert.deepEqual(countsOf(restarted), countsOf(running));
  assert.deepEqual(restarted.samples, running.samples);
  assert.equal(restarted.lastSeenAt, running.lastSeenAt);
  assert.equal(restarted.lastAcceptedAt, running.lastAcceptedAt);

  await wire.send(service, outgoing);
  await until(() => writtenRequests(receiverId) === 3, { what: 'the count on disk' });
  await wire.send(service, outgoing);
  await service.kill('SIGKILL');
  await service.start();
  const { accepted } = await statisticsOf(receiverId);
  assert.ok(accepted === 2 || accepted === 3, `${accepted} accepted`);
});

function assertNoSecrets(): void {
  for (const suffix of ['', '-wal']) {
    const file = join(service.dataDir, `directory.db${suffix}`);
    const text = existsSync(file) ? readFileSync(file, 'latin1') : '';
    assert.ok(!text.includes(marker), `a body in directory.db${suffix}`);
    assert.ok(!/wr[ia]_[\w-]{10}/.test(text), `a secret in directory.db${suffix}`);
  }
}

function wireNamed(name: string): Wire {
  const wire = wires.find((candidate) => candidate.name === name);
  assert.ok(wire, `there is no wire ${name}`);
  return wire;
}
