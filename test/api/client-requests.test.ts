/** Requests of client libraries that are no npm packages, with the headers that they send. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Answer } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

async function logsOf(serviceName: string) {
  return until(
    async () => {
      const { logs } = await service.list({ serviceName });
      return logs.length > 0 && logs;
    },
    { what: `a log of ${serviceName}` },
  );
}

suite('Telegraf 1.40 with outputs.elasticsearch', () => {
  for (const slash of ['', '/']) {
    test(`finds a node by HEAD …/elasticsearch${slash}`, async () => {
      const { receiverId, token } = service.quickstart.receivers.http_json;
      const base = `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/elasticsearch`;
      const answer = await service.http.send(`${base}${slash}`, {
        method: 'HEAD',
        headers: { authorization: `Basic ${Buffer.from(`weir:${token}`).toString('base64')}` },
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['x-elastic-product'], 'Elasticsearch');
    });
  }
});

suite('elasticsearch 9.5 for Python', () => {
  const vendor = 'application/vnd.elasticsearch+';
  function send(
    method: string,
    path: string,
    documents: readonly object[],
    type = 'x-ndjson',
  ): Promise<Answer> {
    const { receiverId, token } = service.quickstart.receivers.http_json;
    const base = `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/elasticsearch`;
    return service.http.send(`${base}${path}`, {
      method,
      headers: {
        accept: `${vendor}json; compatible-with=9`,
        authorization: `ApiKey ${token}`,
        'content-type': `${vendor}${type}; compatible-with=9`,
        'x-elastic-client-meta': 'es=9.5.1,py=3.11.7,t=9.4.2,ur=2.8.0,h=bp',
      },
      body: documents
        .map((document) => `${JSON.stringify(document, undefined, type === 'json' ? 2 : 0)}\n`)
        .join(''),
    });
  }

  for (const path of ['/_bulk', '/logs-shop/_bulk']) {
    test(`stores a bulk request sent with PUT ${path}`, async () => {
      const serviceName = `put${path.replaceAll('/', '-')}`;
      const answer = await send('PUT', path, [
        { create: { _index: 'logs-shop' } },
        { message: 'paid', 'service.name': serviceName },
      ]);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json<{ errors: boolean }>().errors, false);
      const [log] = await logsOf(serviceName);
      assert.deepEqual([log?.message, log?.labels['_index']], ['paid', 'logs-shop']);
    });
  }

  for (const [method, path, id] of [
    ['PUT', '/logs-shop/_create/a%2F1', 'a/1'],
    ['PUT', '/logs-shop/_doc/2', '2'],
    ['POST', '/logs-shop/_doc', undefined],
  ] as const) {
    test(`stores a document sent with ${method} ${path}`, async () => {
      const serviceName = `one${path.replaceAll(/[/%]/g, '-')}`;
      const document = { message: 'paid', 'service.name': serviceName };
      const answer = await send(method, path, [document], 'json');
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.headers['x-elastic-product'], 'Elasticsearch');
      const created = answer.json<Record<string, unknown>>();
      assert.deepEqual([created['_index'], created['result']], ['logs-shop', 'created']);
      assert.match(
        String(created['_id']),
        id === undefined ? /^[\w-]{20}$/ : new RegExp(`^${id}$`),
      );
      const [log] = await logsOf(serviceName);
      const { _index, _id } = log!.labels;
      assert.deepEqual([log?.message, _index, _id], ['paid', 'logs-shop', id]);
    });
  }

  test('gets an error for a document that is not one object', async () => {
    for (const documents of [[], [[]], [{ message: 'a' }, { message: 'b' }]]) {
      const answer = await send('POST', '/logs-shop/_doc', documents, 'json');
      assert.equal(answer.status, 400, answer.text);
      const { error } = answer.json<{ error: { type: string; reason: string } }>();
      assert.equal(error.type, 'illegal_argument_exception');
    }
  });

  test('gets an error it can read from an unknown route', async () => {
    const answer = await send('GET', '/logs-shop/_search', [{ message: 'paid' }]);
    assert.equal(answer.status, 404);
    assert.equal(answer.headers['content-type'], 'application/json');
    const { error } = answer.json<{ error: { type: string; reason: string } }>();
    assert.equal(error.type, 'resource_not_found_exception');
    assert.match(error.reason, /cannot find this route for GET/);
  });
});

test('Vector 0.56 asks Splunk for acknowledgements in gzip', async () => {
  const ask = (body: Buffer) =>
    service.http.send(`${service.quickstart.ingestUrl}/services/collector/ack`, {
      method: 'POST',
      headers: {
        authorization: `Splunk ${service.quickstart.receivers.http_json.token}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'x-splunk-request-channel': '6a6e3c1e-0e0e-4c57-9f6e-3a8f6a0d3b52',
      },
      body,
    });
  const answer = await ask(gzipSync('{"acks":[1795627524145000]}'));
  assert.deepEqual([answer.status, answer.json()], [200, { acks: { 1795627524145000: true } }]);
  assert.equal((await ask(gzipSync(Buffer.alloc(2 ** 22)))).status, 413);
  assert.equal((await ask(Buffer.from('{"acks":[1]}'))).status, 400);
});

suite('Vector 0.56 before it sends', () => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    service.http.send(`${service.quickstart.ingestUrl}${path}`, { method: 'GET', headers });
  const receiver = () => `/v1/receivers/${service.quickstart.receivers.http_json.receiverId}`;

  test('finds Loki ready', async () => {
    for (const base of ['', receiver()]) {
      const answer = await get(`${base}/ready`);
      assert.deepEqual([answer.status, answer.text], [200, 'ready\n']);
    }
  });

  test('validates its key as of Datadog', async () => {
    const { token } = service.quickstart.receivers.http_json;
    for (const base of ['', `${receiver()}/datadog`]) {
      const answer = await get(`${base}/api/v1/validate`, { 'dd-api-key': token });
      assert.deepEqual([answer.status, answer.json()], [200, { valid: true }]);
      assert.equal((await get(`${base}/api/v1/validate`, { 'dd-api-key': 'wrong' })).status, 401);
    }
  });
});

test('lines take the token as the password of Basic, with any user', async () => {
  const { receiverId, token } = service.quickstart.receivers.http_json;
  const answer = await service.http.send(
    `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/lines`,
    {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`weir:${token}`).toString('base64')}`,
        'content-type': 'application/x-ndjson',
      },
      body: '{"level":30,"name":"pino-shop","msg":"paid"}\n',
    },
  );
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await logsOf('pino-shop'))[0]?.message, 'paid');
});
