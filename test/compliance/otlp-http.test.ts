/**
 * OTLP logs over HTTP against the real process, by the rules of
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp: statuses and encodings.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fieldsOf, messagesOf } from '../harness/proto-wire.ts';
import { statusOf } from '../harness/raw.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { encodeLogsRequest } from '../protocols/otlp-proto.ts';
import {
  assertPutOff,
  assertRefused,
  encodings,
  type Headers,
  json,
  openQuota,
  post,
  postHead,
  protobuf,
} from './otlp-exchange.ts';

const limits = { body: 4096, protobuf: 8192, json: 6144 };

let service: Service;
before(async () => {
  const flags = {
    '--ingest-otlp-max-body-bytes': limits.body,
    '--ingest-otlp-max-protobuf-bytes': limits.protobuf,
    '--ingest-otlp-max-json-bytes': limits.json,
    '--ingest-body-timeout-ms': 1500,
    '--queue-max-backlog-bytes': 30_000,
  };
  service = await startService({
    flags: Object.entries(flags).flat().map(String),
    // Errors of NATS, which is full.
    expectedErrors: [
      /queue refuses .*maximum bytes exceeded|maximum bytes exceeded.*queue refuses/,
    ],
  });
});
after(() => service.stop());

suite('full success', () => {
  for (const { type, body, success } of encodings) {
    const twoMembers = Buffer.concat([gzipSync(body.subarray(0, 9)), gzipSync(body.subarray(9))]);
    const cases: [name: string, body: Uint8Array, headers: Headers][] = [
      ['plain', body, {}],
      ['with a charset', body, { 'content-type': `${type}; charset=utf-8` }],
      ['in capitals', body, { 'content-type': type.toUpperCase() }],
      ['identity', body, { 'content-encoding': 'identity' }],
      ['chunked', body, { 'transfer-encoding': 'chunked' }],
      ['gzip', gzipSync(body), { 'content-encoding': 'gzip' }],
      ['gzip in capitals', gzipSync(body), { 'content-encoding': 'GZIP' }],
      ['gzip by its old name', gzipSync(body), { 'content-encoding': 'x-gzip' }],
      ['gzip of two members', twoMembers, { 'content-encoding': 'gzip' }],
      ['without a log', Buffer.from(success), {}],
      ['without a log, in gzip', gzipSync(success), { 'content-encoding': 'gzip' }],
    ];
    for (const [name, bytes, headers] of cases) {
      test(`${type}, ${name}`, async () => {
        const answer = await post(service, bytes, { 'content-type': type, ...headers });
        assert.equal(answer.status, 200, answer.text);
        // The Collector compares it exactly.
        assert.equal(answer.headers['content-type'], type);
        assert.equal(answer.text, success);
      });
    }
  }
});

suite('warnings about accepted records', () => {
  const record = { timeUnixNano: '1700000000', severityNumber: 99 };
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [record, record] }] }] };
  const words = /not in nanoseconds.+\(2\); severity number .+clamped \(2\)$/;
  const warn = async (body: object) =>
    (await post(service, JSON.stringify(body), { 'content-type': json.type })).text;

  test('in JSON, without a count of rejected records', async () => {
    const { partialSuccess } = JSON.parse(await warn(request)) as { partialSuccess: Headers };
    assert.deepEqual(Object.keys(partialSuccess), ['errorMessage']);
    assert.match(partialSuccess['errorMessage'] ?? '', words);
  });

  test('in protobuf', async () => {
    const sent = encodeLogsRequest(request);
    const { bytes } = await post(service, sent, { 'content-type': protobuf.type });
    const [partialSuccess] = messagesOf(bytes, 1);
    assert.ok(partialSuccess);
    const [[field, message] = [], ...others] = fieldsOf(partialSuccess);
    assert.deepEqual([field, others], [2, []]);
    assert.match(String(message), words);
  });

  test('for unknown fields', async () => {
    assert.match(await warn({ resourceSpans: [{}] }), /traces, metrics or profiles, left out/);
    assert.match(await warn({ resource_logs: [{}] }), /key not in lowerCamelCase/);
    assert.equal(await warn({ somethingNew: [{}] }), '{}');
  });
});

suite('refused before the body', () => {
  for (const type of ['', 'text/plain', 'application/protobuf', 'application/json; charset=x']) {
    test(`415 for the content type "${type}"`, async () => {
      const answer = await post(service, json.body, { 'content-type': type });
      const own = type.startsWith(json.type) ? json.type : protobuf.type;
      const { message } = assertRefused(answer, own, 415, 3);
      assert.ok(message.includes(`"${type}"`), message);
      assert.match(message, /takes application\/json or application\/x-protobuf/);
    });
  }

  for (const { type, body } of encodings) {
    for (const coding of ['br', 'deflate', 'zstd', 'snappy', 'gzip, gzip']) {
      test(`415 for ${type} in ${coding}`, async () => {
        const headers = { 'content-type': type, 'content-encoding': coding };
        const { message } = assertRefused(await post(service, body, headers), type, 415, 3);
        assert.ok(message.includes(`"${coding}"`) && /identity or gzip/.test(message), message);
      });
    }

    test(`401 for ${type} without one token in force`, async () => {
      const { url, token } = service.quickstart.receivers.otlp;
      const own = `Bearer ${token}`;
      const values = [[], [own, own], [`${own}, ${own}`], [token], ['Bearer wri_x'], ['Basic x']];
      for (const list of values) {
        const headers = ['Content-Type', type, ...list.flatMap((one) => ['Authorization', one])];
        const answer = await service.http.send(url, { method: 'POST', headers, body });
        assertRefused(answer, type, 401, 16);
        assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/);
      }
    });

    test(`403 for ${type} with the token of another receiver`, async () => {
      const authorization = `Bearer ${service.quickstart.receivers.http_json.token}`;
      const answer = await post(service, body, { 'content-type': type, authorization });
      assertRefused(answer, type, 403, 7);
    });

    test(`404 for ${type} at an unknown path`, async () => {
      const { url, receiverId, token } = service.quickstart.receivers.otlp;
      const sendTo = (wrong: string) =>
        post(service, body, { 'content-type': type }, { url: wrong, token });
      for (const wrong of [
        `${url}/`,
        // A complete URL where the base URL was expected.
        `${url}/v1/logs`,
        url.replace('/logs', '/traces'),
        url.replace(receiverId, 'rcv_unknown'),
      ]) {
        assertRefused(await sendTo(wrong), type, 404, 5);
      }
      const root = await sendTo(`${service.quickstart.ingestUrl}/v1/logs`);
      assert.equal(root.status, 404);
      assert.equal(root.headers['content-type'], 'application/problem+json');
    });

    test(`413 for ${type} with a declared length over the limit`, async () => {
      const lines = ['Content-Length: 99999999', 'Expect: 100-continue'];
      const answer = await postHead(service, [`Content-Type: ${type}`, ...lines]);
      assert.equal(statusOf(answer), 413);
      assert.ok(answer.includes(`content-type: ${type}\r\n`), answer);
    });
  }

  test('404 for another method', async () => {
    const { url } = service.quickstart.receivers.otlp;
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) {
      const { status, text } = await service.http.send(url, { method });
      assert.equal(status, 404, method);
      if (method !== 'HEAD') assert.ok(text.includes(`this route for ${method}:`), text);
    }
  });
});

suite('refused for the body', () => {
  /** An unknown field of this size. */
  const unknownField = (bytes: number) => {
    const head = [0x7a, ((bytes - 3) & 127) | 128, (bytes - 3) >> 7];
    return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes - 3)]);
  };
  const spaces = (bytes: number) => Buffer.from('{}'.padStart(bytes));
  for (const [type, limit, write] of [
    [json.type, limits.json, spaces],
    [protobuf.type, limits.protobuf, unknownField],
  ] as const) {
    test(`413 for ${type} one byte over the limit, which it names`, async () => {
      const gzip = { 'content-type': type, 'content-encoding': 'gzip' };
      const chunked = { 'content-type': type, 'transfer-encoding': 'chunked' };
      const body = write(limit);
      const longer = write(limit + 1);
      assert.equal((await post(service, body, chunked)).status, 200);
      assert.equal((await post(service, gzipSync(body), gzip)).status, 200);
      for (const answer of [
        await post(service, longer, { 'content-type': type }),
        await post(service, longer, chunked),
        await post(service, gzipSync(longer), gzip),
      ]) {
        const { message, details } = assertRefused(answer, type, 413, 8);
        assert.ok(message.includes(`more than ${limit} bytes`), message);
        assert.deepEqual(details, []);
      }
    });
  }

  const gzip = { 'content-encoding': 'gzip' };
  const cases: [type: string, body: string | Uint8Array, headers: Headers, words: RegExp][] = [
    [json.type, '', {}, /ends at byte 0/],
    [json.type, '[]', {}, /'\[' at byte 0/],
    [json.type, '{"resourceLogs":{}}', {}, /'\{' at byte 16 where an array/],
    [json.type, protobuf.body, {}, /cannot parse JSON/],
    [json.type, gzipSync(json.body), {}, /byte 0x1f at byte 0/],
    [json.type, json.body, gzip, /not valid gzip/],
    [json.type, json.body, { 'idempotency-key': 'two words' }, /Idempotency-Key/],
    [protobuf.type, json.body, {}, /cannot parse protobuf/],
    [protobuf.type, '', gzip, /not valid gzip/],
    [protobuf.type, gzipSync(protobuf.body).subarray(0, -4), gzip, /not valid gzip/],
  ];
  for (const [type, body, headers, words] of cases) {
    test(`400 for ${type}: ${words.source}`, async () => {
      const answer = await post(service, body, { 'content-type': type, ...headers });
      const { message, details } = assertRefused(answer, type, 400, 3);
      assert.match(message, words);
      assert.ok(details[0]?.type === 'google.rpc.BadRequest', JSON.stringify(details));
      assert.match(details[0].violations[0]?.description ?? '', words);
    });
  }
});

suite('temporary refusals', () => {
  for (const { type, body } of encodings) {
    test(`429 for ${type} over a quota`, async () => {
      const address = await openQuota(service, 1);
      const logRecords = Array.from({ length: 60 }, () => ({}));
      const many = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
      const first = await post(service, many, { 'content-type': protobuf.type }, address);
      assert.equal(first.status, 200);
      const answer = await post(service, body, { 'content-type': type }, address);
      const { message } = assertPutOff(answer, type, 429, 8);
      assert.match(message, /receiver limit of 1 events per second/);
      assert.match(String(answer.headers['ratelimit']), /"receiver";r=0/);
    });

    test(`503 for ${type} whose body does not arrive`, async () => {
      const lines = [`Content-Type: ${type}`, 'Content-Length: 10'];
      const answer = await postHead(service, lines, '{');
      assert.equal(statusOf(answer), 503);
      assert.match(answer, /\r\nretry-after: [1-5]\r\n/);
      assert.ok(answer.includes(`content-type: ${type}\r\n`), answer);
    });
  }

  test('503 while the queue is full', async () => {
    const [enginePid] = service.enginePids();
    assert.ok(enginePid);
    // A stopped store keeps the backlog constant.
    process.kill(enginePid, 'SIGSTOP');
    try {
      const filling = { message: 'x'.repeat(10_000) };
      const isFull = async () => (await service.postLogs(filling)).status === 503;
      await until(isFull, { what: 'the backlog to be full' });
      for (const { type, body } of encodings) {
        assertPutOff(await post(service, body, { 'content-type': type }), type, 503, 14);
      }
    } finally {
      process.kill(enginePid, 'SIGCONT');
    }
  });
});

test('the OpenAPI document lists exactly the statuses above', async () => {
  const answer = await service.http.send(`${service.quickstart.ingestUrl}/openapi.json`);
  const { paths } = answer.json<{ paths: Record<string, { post: { responses: object } }> }>();
  const route = paths['/v1/receivers/{receiverId}/otlp/v1/logs'];
  const statuses = Object.keys(route?.post.responses ?? {}).map(Number);
  assert.deepEqual(statuses, [200, 400, 401, 403, 404, 413, 415, 429, 503]);
});
