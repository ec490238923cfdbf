/** Answers have a status, a content type and a form that the OpenAPI document of the port has. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import type { Answer } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import { remoteWrite } from '../harness/metrics.ts';
import { toSample } from '../harness/prompb.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly responses: Readonly<Record<string, Json>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

let service: Service;
let documents: Readonly<Record<'ingest' | 'stream', Document>>;
let logId: string;
before(async () => {
  service = await joinService();
  const { ingestUrl, streamUrl } = service.quickstart;
  const readDocument = async (url: string) =>
    (await service.http.send(`${url}/openapi.json`)).json<Document>();
  documents = { ingest: await readDocument(ingestUrl), stream: await readDocument(streamUrl) };
  const sent = [
    { message: 'paid 1', severity: 'ERROR', service_name: 'shop', labels: { 'a.b': 1 } },
  ];
  assert.equal((await service.postLogs(sent)).status, 202);
  const metric = { labels: { __name__: 'up' }, samples: [toSample(Date.now(), 1)] };
  assert.equal((await remoteWrite(service, [metric])).status, 204);
  logId = await until(async () => (await service.list({})).logs[0]?.logId, { what: 'the log' });
});
after(() => service.stop());

/**
 * Replaces references, which `z.fromJSONSchema` does not follow into another part. Leaves out
 * patterns, of which it drops the flag `u`.
 */
function resolve(value: unknown, document: Document): unknown {
  if (Array.isArray(value)) return value.map((each) => resolve(each, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref !== 'string') {
    const parts = Object.entries(value).filter(([key]) => key !== 'pattern');
    return Object.fromEntries(parts.map(([key, part]) => [key, resolve(part, document)]));
  }
  const [, section = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec($ref) ?? [];
  return resolve(document.components[section]?.[name], document);
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema?: Json }>>;
}

function assertDescribed(document: Document, path: string, method: string, answer: Answer): void {
  const { status, text, headers } = answer;
  const operation = document.paths[path]?.[method.toLowerCase()];
  assert.ok(operation, `${method} ${path} is not described`);
  const described = operation.responses[status];
  assert.ok(described, `${status} is not described: ${text}`);
  const { content } = resolve(described, document) as Response;
  if (content === undefined) {
    assert.equal(text, '');
    return;
  }
  const mediaType = (headers['content-type'] ?? '').replace(/;.*/, '');
  const body = content[mediaType];
  assert.ok(body, `${mediaType} is not described: ${text}`);
  if (body.schema === undefined || !mediaType.endsWith('json')) return;
  z.fromJSONSchema(body.schema).parse(answer.json());
}

const range = 'startTime=2027-01-01T00:00:00Z&endTime=2027-01-02T00:00:00Z';
const prometheus = '/api/v1/prometheus/api/v1';

/** Path in the document, the query of the request, its status. */
const reads: readonly (readonly [path: string, query: string, status: number])[] = [
  ['/healthz', '', 200],
  ['/readyz', '', 200],
  ['/openapi.json', '', 200],
  ['/api/v1/prometheus/-/healthy', '', 200],
  ['/api/v1/prometheus/-/ready', '', 200],
  ['/api/v1/logs', '', 200],
  ['/api/v1/logs', 'limit=0', 400],
  ['/api/v1/logs', 'streamId=00000000-0000-4000-8000-000000000000', 404],
  ['/api/v1/logs/{logId}', '', 200],
  ['/api/v1/logs/{logId}/context', '', 200],
  ['/api/v1/logs/export', '', 200],
  ['/api/v1/logs/export', 'format=csv', 200],
  ['/api/v1/histogram', `${range}&groupBy=severity`, 200],
  ['/api/v1/histogram', '', 400],
  ['/api/v1/facets', 'field=severity', 200],
  ['/api/v1/facets/batch', 'fields=severity,a.b', 200],
  ['/api/v1/fields', '', 200],
  ['/api/v1/fields/{name}/values', '', 200],
  ['/api/v1/stats', `${range}&stat=count,p95(a.b)&by=service&step=1h`, 200],
  ['/api/v1/stats', `${range}&format=prometheus`, 200],
  ['/api/v1/patterns', '', 200],
  ['/api/v1/compare', '', 200],
  [`${prometheus}/query`, 'query=up', 200],
  [`${prometheus}/query`, 'query=up(', 400],
  [`${prometheus}/query`, 'query=label_replace(up,"a","","b","(")', 422],
  [`${prometheus}/query_range`, 'query=up&start=1&end=100&step=10', 200],
  [`${prometheus}/query_exemplars`, 'query=up', 200],
  [`${prometheus}/format_query`, 'query=up', 200],
  [`${prometheus}/parse_query`, 'query=up', 200],
  [`${prometheus}/series`, 'match[]=up', 200],
  [`${prometheus}/series`, '', 400],
  [`${prometheus}/labels`, '', 200],
  [`${prometheus}/label/{name}/values`, '', 200],
  [`${prometheus}/metadata`, '', 200],
  [`${prometheus}/rules`, '', 200],
  [`${prometheus}/alerts`, '', 200],
  [`${prometheus}/status/buildinfo`, '', 200],
  [`${prometheus}/status/flags`, '', 200],
  [`${prometheus}/status/config`, '', 200],
  [`${prometheus}/status/runtimeinfo`, '', 200],
  [`${prometheus}/status/tsdb`, '', 200],
  ['/api/v1/admin/receivers/{receiverId}/statistics', 'buckets=2', 200],
  ['/api/v1/admin/whoami', '', 200],
  ['/api/v1/admin/accounts', '', 200],
  ['/api/v1/admin/streams', '', 200],
  ['/api/v1/admin/receivers', '', 200],
  ['/api/v1/admin/receivers/{receiverId}', '', 200],
  ['/api/v1/admin/tokens', '', 200],
  ['/api/v1/admin/views', '', 200],
  ['/api/v1/admin/rule-groups', '', 200],
  ['/api/v1/admin/notifiers', '', 200],
  ['/api/v1/session', '', 403],
];

suite('stream', () => {
  for (const [path, query, status] of reads) {
    test(`GET ${path}?${query} is ${status}`, async () => {
      const { streamUrl, accessToken, accountId, receivers } = service.quickstart;
      const url = `${streamUrl}${path}?${query}`
        .replace('{logId}', logId)
        .replace('{name}', 'a.b')
        .replace('{receiverId}', receivers.http_json.receiverId);
      const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
      const answer = await service.http.send(url, { headers });
      assert.equal(answer.status, status, answer.text);
      assertDescribed(documents.stream, path, 'GET', answer);
    });
  }

  for (const path of ['/api/v1/logs', `${prometheus}/query`, '/api/v1/admin/whoami']) {
    test(`GET ${path} without a token is 401`, async () => {
      const answer = await service.http.send(service.quickstart.streamUrl + path);
      assert.equal(answer.status, 401);
      assertDescribed(documents.stream, path, 'GET', answer);
    });
  }
});

const receiver = '/v1/receivers/{receiverId}';

suite('ingest', () => {
  const post = async (path: string, headers: Readonly<Record<string, string>>, body: string) => {
    const { ingestUrl, receivers } = service.quickstart;
    const { receiverId, token } = receivers.http_json;
    const answer = await service.http.send(ingestUrl + path.replace('{receiverId}', receiverId), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
    });
    assertDescribed(documents.ingest, path, 'POST', answer);
    return answer.status;
  };
  const json = { 'content-type': 'application/json' };
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const bulk = '{"create":{}}\n{"message":"a"}\n{"delete":{"_id":"1"}}\n';

  for (const [path, headers, body, status] of [
    [`${receiver}/logs`, json, '[{"message":"a"},{}]', 202],
    [`${receiver}/logs`, json, '{', 400],
    [`${receiver}/logs`, { authorization: 'Bearer x' }, '', 401],
    [`${receiver}/logs`, { 'content-type': 'text/csv' }, 'a', 415],
    [`${receiver}/lines`, ndjson, '{"message":"a"}\n{', 200],
    [`${receiver}/gelf`, json, '{"short_message":"a"}', 202],
    [`${receiver}/datadog/api/v2/logs`, json, '[{"message":"a"},1]', 202],
    [`${receiver}/elasticsearch/_bulk`, ndjson, bulk, 200],
    [`${receiver}/elasticsearch/_bulk`, ndjson, '{', 400],
    ['/{index}/_doc', json, '{"message":"a"}', 201],
    [`${receiver}/services/collector/event`, json, '{"event":"a"}', 200],
    [`${receiver}/services/collector/event`, json, '{"event":"a"}{}', 400],
    [`${receiver}/loki/api/v1/push`, json, '{"streams":[]}', 204],
    [`${receiver}/loki/api/v1/push`, json, '{', 400],
    [`${receiver}/otlp/v1/logs`, json, '{}', 403],
    [`${receiver}/prometheus/metrics`, { 'content-type': 'text/plain' }, 'a 1\n', 403],
    [`${receiver}/influx/write`, {}, 'a b=1', 403],
  ] as const) {
    test(`POST ${path} ${body} is ${status}`, async () => {
      assert.equal(await post(path, headers, body), status);
    });
  }

  test('remote_write of a series without a name is 400', async () => {
    const nameless = { labels: { job: 'a' }, samples: [toSample(Date.now(), 1)] };
    const answer = await remoteWrite(service, [nameless]);
    assert.equal(answer.status, 400);
    assertDescribed(documents.ingest, `${receiver}/prometheus/api/v1/write`, 'POST', answer);
  });
});
