/** Compares the documents with the mounted routes, in both directions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminRoutes } from '../../src/admin/admin.ts';
import { createStatisticsRoutes } from '../../src/admin/receiver-statistics.ts';
import { configSchema } from '../../src/config/schema.ts';
import { createMetricRoutes } from '../../src/metrics/routes.ts';
import { createProtocols } from '../../src/service/protocols.ts';
import { createExportRoutes, createTicketRoutes } from '../../src/stream/export-routes.ts';
import { createCompareRoutes } from '../../src/stream/compare-routes.ts';
import { createPatternRoutes } from '../../src/stream/pattern-routes.ts';
import { createStreamRoutes } from '../../src/stream/routes.ts';
import { createTailRoutes } from '../../src/stream/tail-routes.ts';
import { createHttpClient, type HttpClient } from '../harness/http.ts';
import { transports } from './client.ts';
import { accountId, type Edge, openEdge } from './edge.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const surfaces = ['ingest', 'stream'] as const;

/** A server with every route. */
let edge: Edge;
let client: HttpClient;
before(async () => {
  const unused = {} as never;
  edge = await openEdge({
    parts: {
      protocols: createProtocols(configSchema.parse({})),
      reads: [
        ...createStreamRoutes(unused),
        ...createPatternRoutes(unused),
        ...createCompareRoutes(unused),
        ...createTailRoutes(unused),
        ...createExportRoutes(unused, unused),
        ...createMetricRoutes(unused, { maxReadSeries: 1, maxReadSamples: 1, maxQuerySamples: 1 }),
        ...createStatisticsRoutes(unused),
      ],
      tickets: createTicketRoutes(unused, unused),
      admin: adminRoutes(
        {
          directory: unused,
          grants: unused,
          queue: unused,
          store: unused,
          telemetry: unused,
          ruleOptions: unused,
          previewRules: unused,
          checkNotifierUrl: unused,
        },
        { ingestUrl: 'https://localhost' },
      ),
    },
  });
  client = createHttpClient(edge.ca);
});
after(async () => {
  client.close();
  await edge.close();
});

for (const surface of surfaces) {
  test(`${surface}: mounts every documented operation and no other method`, async () => {
    const get = (path: string, method = 'GET') =>
      client.send(`https://localhost:${edge.ports[surface]}${path}`, { method });
    const { paths } = (await get('/openapi.json')).json<Document>();
    for (const [path, operations] of Object.entries(paths)) {
      const sent = methods.map(async (method) => {
        const { status } = await get(path.replace(/\{\w+\}/g, accountId), method);
        const isDocumented = operations[method.toLowerCase()] !== undefined;
        const isMounted = status !== 404 && status !== 405;
        assert.equal(isMounted, isDocumented, `${method} ${path} is ${status}`);
      });
      await Promise.all(sent);
    }
  });

  test(`${surface}: has a complete document`, async () => {
    const target = { port: edge.ports[surface], ca: edge.ca };
    const sent = { method: 'GET', path: '/openapi.json', headers: [], body: '' };
    const { body } = await transports['HTTP/2'](target, sent);
    const document = JSON.parse(body) as Document;
    assert.equal(document.openapi, '3.1.0');
    const ids = new Set<string>();
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        assert.ok(!ids.has(operation.operationId), `${operation.operationId} is there twice`);
        ids.add(operation.operationId);
        const named = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
        assert.deepEqual(
          named.map(({ name }) => name),
          inPath,
          path,
        );
        assert.ok(Object.keys(operation.responses).some((status) => status < '300'));
        if (method === 'get') assert.equal(operation.requestBody, undefined);
      }
    }
    for (const [, section = '', name = ''] of body.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      assert.ok(document.components[section]?.[name], `${section}/${name} is missing`);
    }
  });
}

test('lists every status of the specification in the ingest document', async () => {
  const sent = { method: 'GET', path: '/openapi.json', headers: [], body: '' };
  const target = { port: edge.ports.ingest, ca: edge.ca };
  const { body } = await transports['HTTP/1.1'](target, sent);
  const { paths } = JSON.parse(body) as Document;
  const responses = paths['/v1/receivers/{receiverId}/logs']?.['post']?.responses ?? {};
  for (const status of [202, 400, 401, 403, 404, 413, 415, 429, 503]) {
    assert.ok(responses[status], `${status} is missing`);
  }
});

test('describes how to resume a tail', async () => {
  const sent = { method: 'GET', path: '/openapi.json', headers: [], body: '' };
  const target = { port: edge.ports.stream, ca: edge.ca };
  const { body } = await transports['HTTP/1.1'](target, sent);
  const { paths } = JSON.parse(body) as Document;
  const names = paths['/api/v1/logs/tail']?.['get']?.parameters?.map(({ name }) => name);
  assert.ok(names?.includes('Last-Event-ID'), String(names));
});
