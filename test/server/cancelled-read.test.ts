/** Reads whose client disconnects before the response. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import type { AdminContext } from '../../src/admin/context.ts';
import { defineAccountRoute } from '../../src/admin/routes.ts';
import { jsonResponse, type ReadRoute } from '../../src/model/read-route.ts';
import { until } from '../harness/until.ts';
import { accountId, type Edge, openEdge } from './edge.ts';

/** Set by the reads. */
let begun = 0;
let leftOf: AbortSignal[] = [];
let finish: () => void = () => {};

const slow: ReadRoute = {
  method: 'GET',
  path: '/api/v1/slow',
  operationId: 'slow',
  summary: 'Answers on demand, or fails when its reader leaves',
  scope: 'logs:read',
  query: z.strictObject({}),
  response: jsonResponse(z.object({})),
  read: async ({ disconnected }) => {
    begun += 1;
    assert.ok(disconnected);
    leftOf.push(disconnected);
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    finish = () => resolve({});
    disconnected.addEventListener('abort', () => reject(disconnected.reason as Error));
    return promise;
  },
};

const slowChange = defineAccountRoute({
  endpoint: 'GET /slow',
  operationId: 'slowChange',
  summary: 'Answers when its client leaves',
  response: z.object({}),
  handle: async ({ disconnected }) => {
    begun += 1;
    assert.ok(disconnected);
    leftOf.push(disconnected);
    await once(disconnected, 'abort');
    return {};
  },
})({} as AdminContext);

let edge: Edge;
before(async () => {
  edge = await openEdge({ parts: { reads: [slow], admin: [slowChange] } });
});
after(() => edge.close());

const headers = { authorization: 'Bearer wra_reader', 'x-active-account': accountId };

/** Each sends a read and returns a function that cancels it. */
const ways: Readonly<Record<string, (path: string) => () => void>> = {
  'HTTP/1.1': (path) => {
    const asked = httpsRequest({
      host: '127.0.0.1',
      servername: 'localhost',
      port: edge.ports.stream,
      ca: edge.ca,
      path,
      headers,
      agent: false,
    });
    asked.on('error', () => {}).end();
    return () => asked.destroy();
  },
  'HTTP/2': (path) => {
    const session = connect(`https://127.0.0.1:${edge.ports.stream}`, {
      ca: edge.ca,
      servername: 'localhost',
    });
    session.on('error', () => {});
    const stream = session.request({ ':path': path, ...headers });
    stream.on('error', () => {});
    return () => {
      stream.close(8);
      setImmediate(() => session.close());
    };
  },
};

for (const [name, ask] of Object.entries(ways)) {
  suite(name, () => {
    for (const path of ['/api/v1/slow', '/api/v1/admin/slow']) {
      test(`aborts GET ${path} of a disconnected client, without an error`, async () => {
        begun = 0;
        leftOf = [];
        const leave = ask(path);
        await until(() => begun === 1, { what: 'the read to begin' });
        assert.equal(leftOf[0]!.aborted, false);
        leave();
        await until(() => leftOf[0]!.aborted, { what: 'the read to be aborted' });
        assert.deepEqual(edge.state.logged, []);
      });
    }
  });
}

test('lets a finite read end while the surface closes', async () => {
  const closing = await openEdge({
    parts: { reads: [slow] },
    server: { closing: { noticeMs: 0, graceMs: 5000 } },
  });
  begun = 0;
  leftOf = [];
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = httpsRequest({
    host: '127.0.0.1',
    servername: 'localhost',
    port: closing.ports.stream,
    ca: closing.ca,
    path: '/api/v1/slow',
    headers,
    agent: false,
  });
  asked.on('error', reject).on('response', (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  asked.end();
  await until(() => begun === 1, { what: 'the read to begin' });
  const closed = closing.close();
  assert.equal(leftOf[0]!.aborted, false);
  finish();
  assert.equal(await promise, 200);
  await closed;
});
